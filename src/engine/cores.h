// Cores, and the time that a thread spends on them: what placing progress and saying what it costs need of the system.
// Ownership: nothing. Threading: functions about the calling thread. Refuses: cores that the system does not let this
// process use; a thread that was kept on one core may still ask for another.
#pragma once

#include <chrono>
#include <cstdint>

#include "hocket/result.h"

namespace hocket {

/// Processor time of the calling thread so far.
[[nodiscard]] std::chrono::nanoseconds thread_time();
/// The calling thread runs nowhere else from now on.
[[nodiscard]] Result<void> keep_thread_on(std::uint32_t core);
/// Whether that would work: goes there and comes back.
[[nodiscard]] Result<void> check_core(std::uint32_t core);

}  // namespace hocket

// The MSCCL++ execution plan (JSON) in our words: what reader and writer share. A thread block is a sequential program;
// `put` writes into another GPU's buffer, `signal` and `wait` count on a channel, `sem_release` and `sem_acquire` count
// between thread blocks of one GPU. The k-th channel from a to b meets the k-th from b to a. Limits are those of
// MSCCL++'s executor. Ownership: plain values. Threading: pure functions.
// Refuses: what mscclpp_read.cpp and mscclpp_write.cpp name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/loss.h"
#include "schedule/schedule.h"

namespace hocket {

inline constexpr std::size_t kMscclppOpsMax = 64;         // of a thread block
inline constexpr std::size_t kMscclppSemaphoresMax = 16;  // of a GPU
inline constexpr std::size_t kMscclppBlocksMax = 108;     // of a GPU: all of them must run at once

[[nodiscard]] bool is_mscclpp_json(std::string_view text);
[[nodiscard]] Result<Schedule> read_mscclpp_json(std::string_view text, std::string_view file_name);
[[nodiscard]] LossReport read_losses_of_mscclpp(std::string_view text);
[[nodiscard]] Result<std::string> write_mscclpp_json(const Schedule& schedule);
[[nodiscard]] LossReport write_losses_of_mscclpp(const Schedule& schedule);

}  // namespace hocket

// What a run of a collective takes of this host's memory, compared with what the system and its control groups can give
// before anything is planned or allocated. Threading: pure functions apart from base/available_memory.
// Refuses: more than is available (an Error with what each rank needs, all of this host, what there is, and whose limit
// that is).
#pragma once

#include "net/launch.h"
#include "verify/plan.h"

namespace hocket {

/// Bytes of one rank's input and output.
[[nodiscard]] double buffer_bytes(const BoundCollective& what, std::uint32_t rank);

/// Memory of the ranks of this host, `scratch` bytes of each included; before any of them can have taken its own.
[[nodiscard]] Result<void> check_memory_here(const BoundCollective& what, const Launch& launch, Bytes scratch);

/// Memory of this rank alone, where others may have taken theirs already.
[[nodiscard]] Result<void> check_own_memory(const BoundCollective& what, std::uint32_t rank, Bytes scratch);

/// The same of all ranks in one process, which also keeps what their outputs must be.
[[nodiscard]] Result<void> check_memory_in_process(const Plan& plan);

}  // namespace hocket

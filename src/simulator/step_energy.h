// Energy of simulated steps from a platform's figures: a rank's idle power over the time, and so much per operation,
// per byte of memory and per byte on a link, over all ranks.
//   E = ranks x idle x time + per_flop x operations + per_memory_byte x bytes + per_link_byte x bytes on links
// Threading: pure function. Refuses (nothing): a missing figure (that of links counts as none), kernels of which only a
// time is stated.
#pragma once

#include <optional>

#include "platform/platform.h"
#include "simulator/step.h"

namespace hocket {

/// Joules.
[[nodiscard]] std::optional<double> step_energy(const StepResult& result, const PowerModel& power);

}  // namespace hocket

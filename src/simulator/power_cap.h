// A power cap: the highest frequency of the compute units, in 64ths of the clock, at which an npu takes no more than
// the cap on average over ranks and time. Rates of compute and what communication's units can read follow the
// frequency, memory, links and engines keep their own clocks; energy of an operation as in step_energy.h. Power falls
// with the frequency, so the search halves. Ownership: none. Threading: pure function. Refuses: platforms whose power
// is not known, caps that the lowest frequency does not hold (exit status 1).
#pragma once

#include <functional>

#include "simulator/graph_step.h"

namespace hocket {

inline constexpr int kFrequencySteps = 64;
inline constexpr int kFrequencyLeast = 8;  // 64ths

/// `run` simulates at a frequency.
[[nodiscard]] Result<GraphResult> hold_power_cap(double cap_W, const PowerModel& power,
                                                 const std::function<Result<GraphResult>(double frequency)>& run);

}  // namespace hocket

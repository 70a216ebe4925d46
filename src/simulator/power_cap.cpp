#include "simulator/power_cap.h"

#include <cmath>

#include "simulator/step_energy.h"

namespace hocket {

Result<GraphResult> hold_power_cap(double cap_W, const PowerModel& power,
                                   const std::function<Result<GraphResult>(double frequency)>& run) {
  if (!std::isfinite(cap_W) || cap_W <= 0)
    return fail(Code::kInvalidArgument, "a power cap of {} W: must be above 0", cap_W);
  HOCKET_TRY_ASSIGN(GraphResult best, run(1));
  const std::optional<double> uncapped = step_power(best.step, power);
  if (!uncapped) {
    return fail(Code::kUnsupported, "a power cap of {} W: {}", cap_W,
                best.step.has_stated_compute ? "the workload states times in place of operations"
                                             : "the platform states no idle power and energies");
  }
  if (*uncapped <= cap_W) return best;
  HOCKET_TRY_ASSIGN(best, run(static_cast<double>(kFrequencyLeast) / kFrequencySteps));
  if (const double least = *step_power(best.step, power); least > cap_W) {
    return fail(Code::kDisproved, "a power cap of {} W does not hold: an npu takes {:.1f} W at {}/{} of its clock",
                cap_W, least, kFrequencyLeast, kFrequencySteps);
  }
  int holds = kFrequencyLeast, exceeds = kFrequencySteps;
  while (exceeds - holds > 1) {
    const int middle = (holds + exceeds) / 2;
    HOCKET_TRY_ASSIGN(GraphResult tried, run(static_cast<double>(middle) / kFrequencySteps));
    if (*step_power(tried.step, power) > cap_W) {
      exceeds = middle;
    } else {
      holds = middle;
      best = std::move(tried);
    }
  }
  return best;
}

}  // namespace hocket

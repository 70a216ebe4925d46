// Energy of simulated steps from a platform's figures: a rank's idle power over the time, and so much per operation,
// per byte of memory and per byte on a link, over all ranks.
//   E = ranks x idle x time + k(f) x per_flop x operations + per_memory_byte x bytes + per_link_byte x bytes on links
// with k(f) = V(f)^2, the voltage in proportion to the frequency f above a knee and constant below it.
// Threading: pure function. Refuses (nothing): a missing figure (that of links counts as none), kernels of which only a
// time is stated.
#pragma once

#include <optional>

#include "platform/platform.h"
#include "simulator/step.h"

namespace hocket {

inline constexpr double kVoltageKnee = 0.62;
/// Energy of an operation at a frequency (1: the highest), of that at the highest.
[[nodiscard]] constexpr double energy_scale(double frequency) {
  const double voltage = frequency > kVoltageKnee ? frequency : kVoltageKnee;
  return voltage * voltage;
}

/// Joules.
[[nodiscard]] std::optional<double> step_energy(const StepResult& result, const PowerModel& power);
/// Watts of a rank, on average over ranks and time.
[[nodiscard]] std::optional<double> step_power(const StepResult& result, const PowerModel& power);

}  // namespace hocket

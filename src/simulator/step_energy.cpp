#include "simulator/step_energy.h"

namespace hocket {

std::optional<double> step_energy(const StepResult& result, const PowerModel& power) {
  if (!power.idle || !power.per_flop || !power.per_memory_byte || result.has_stated_compute) return std::nullopt;
  const double links = power.per_link_byte ? power.per_link_byte->value * result.network_bytes : 0;
  return result.ranks * power.idle->value * to_seconds(result.time).value +
         energy_scale(result.frequency) * power.per_flop->value * result.all_flops +
         power.per_memory_byte->value * result.all_memory_bytes + links;
}

std::optional<double> step_power(const StepResult& result, const PowerModel& power) {
  const std::optional<double> energy = step_energy(result, power);
  if (!energy || result.time.count == 0) return std::nullopt;
  return *energy / result.ranks / to_seconds(result.time).value;
}

}  // namespace hocket

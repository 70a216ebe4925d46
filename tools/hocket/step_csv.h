// Simulated steps as CSV: a row per endpoint with every figure of step_metrics.h, energy where the platform's figures
// say it (empty where not), then exposed time by cause.
// Ownership: borrows the results. Threading: pure function. Refuses: names that no CSV field holds.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "platform/platform.h"
#include "simulator/step.h"

namespace hocket {

struct StepCsvRow {
  std::string endpoint;
  const StepResult* result = nullptr;
};

[[nodiscard]] Result<std::string> step_csv(std::span<const StepCsvRow> rows, std::uint32_t steps,
                                           const PowerModel& power);

}  // namespace hocket

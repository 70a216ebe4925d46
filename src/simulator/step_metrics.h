// The figures of a simulated step as a record: name with unit, how it is computed from the result. JSON, CSV, sweeps
// and plots walk these, so that a new figure is one line here and each has one name everywhere. Ownership: constant
// table. Threading: constants. Refuses: nothing. What the run itself took (wall time) is not among them: the same
// question always has the same figures.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simulator/step.h"

namespace hocket {

struct StepMetric {
  std::string_view name;   // "exposed_s"
  std::string_view words;  // "exposed communication"
  double (*of)(const StepResult& result, std::uint32_t steps);
  bool counts = false;  // a whole number
};

[[nodiscard]] std::span<const StepMetric> step_metrics();
/// The metric of that name, or null.
[[nodiscard]] const StepMetric* find_step_metric(std::string_view name);

/// Readable, by the unit at the end of the name: "7.7 ms", "0.408 GB", "271 GB/s", "0.987".
[[nodiscard]] std::string metric_text(std::string_view name, double value);
/// Shortest text that reads back as the same number; whole numbers without a point.
[[nodiscard]] std::string exact_number(double value);

}  // namespace hocket

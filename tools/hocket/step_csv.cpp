#include "step_csv.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <vector>

#include "exchange/csv.h"
#include "simulator/step_energy.h"
#include "simulator/step_metrics.h"

namespace hocket {

Result<std::string> step_csv(std::span<const StepCsvRow> rows, std::uint32_t steps, const PowerModel& power) {
  std::set<std::string> causes;
  for (const StepCsvRow& row : rows) {
    for (const auto& entry : row.result->exposed_for) causes.insert(entry.first);
  }
  std::vector<std::string> head{"endpoint"};
  for (const StepMetric& metric : step_metrics()) head.emplace_back(metric.name);
  head.emplace_back("energy_J");
  for (const std::string& cause : causes) head.push_back(fmt::format("exposed_s for {}", cause));
  HOCKET_TRY_ASSIGN(std::string text, csv_line(head));
  for (const StepCsvRow& row : rows) {
    std::vector<std::string> fields{row.endpoint};
    fields.reserve(head.size());
    for (const StepMetric& metric : step_metrics()) fields.push_back(exact_number(metric.of(*row.result, steps)));
    const std::optional<double> energy = step_energy(*row.result, power);
    fields.push_back(energy ? exact_number(*energy) : std::string());
    for (const std::string& cause : causes) {
      const auto found = row.result->exposed_for.find(cause);
      fields.push_back(found == row.result->exposed_for.end() ? "0" : exact_number(to_seconds(found->second).value));
    }
    HOCKET_TRY_ASSIGN(const std::string line, csv_line(fields));
    text += line;
  }
  return text;
}

}  // namespace hocket

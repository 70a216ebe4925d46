#include "planner/step_choice.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "planner/endpoint_choice.h"

namespace hocket {
namespace {

constexpr std::string_view kPipelined = "hierarchical_two_way";
constexpr std::string_view kForwarded = "forwarded_all_to_all";

Result<VerifiedSchedule> plan_with(const Algorithm& algorithm, const PlanRequest& request) {
  HOCKET_TRY_ASSIGN(Schedule schedule, algorithm.plan(request));
  return prove(std::move(schedule));
}

/// The largest collective of that kind, in whole blocks.
BoundCollective largest(const Workload& workload, const Collective& collective) {
  BoundCollective what{collective, 0, DataType::kF32, ReduceOp::kSum};
  for (const WorkNode& node : workload.nodes) {
    if (node.collective && node.collective->kind == collective.kind)
      what.count = std::max(what.count, node.collective->bytes.count / size_of(what.type));
  }
  if (is_blocked(collective.kind))
    what.count = std::max<std::int64_t>(1, what.count / collective.ranks) * collective.ranks;
  return what;
}

}  // namespace

Result<std::vector<const Algorithm*>> usual_algorithms(const std::vector<std::string>& named, Forwarding forwards) {
  std::vector<std::string_view> names(named.begin(), named.end());
  names.push_back(kPipelined);
  if (forwards == Forwarding::kNpus) names.push_back(kForwarded);
  std::vector<const Algorithm*> found;
  for (const std::string_view name : names) {
    HOCKET_TRY_ASSIGN(const Algorithm* algorithm, find_algorithm(name));
    found.push_back(algorithm);
  }
  return found;
}

Result<ScheduleChooser> choose_schedules(const StepMachine& machine, const Workload& workload,
                                         const std::vector<std::string>& names) {
  HOCKET_TRY_ASSIGN(const std::vector<const Algorithm*> wanted,
                    usual_algorithms(names, machine.platform.network.forwards));
  return ScheduleChooser([machine, &workload, wanted](const Collective& collective) -> Result<VerifiedSchedule> {
    const PlanRequest request{machine.topology, collective};
    for (const Algorithm* algorithm : wanted) {
      if (algorithm->supports(request).empty()) return plan_with(*algorithm, request);
    }
    const BoundCollective what = largest(workload, collective);
    HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(machine.topology, what, {}));
    return fastest_at_endpoints(planning, what, machine);
  });
}

}  // namespace hocket

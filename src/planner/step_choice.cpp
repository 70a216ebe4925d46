#include "planner/step_choice.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "planner/planner.h"

namespace hocket {
namespace {

constexpr std::string_view kPipelined = "hierarchical_two_way";

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

Result<ScheduleChooser> choose_schedules(const Topology& topology, const Workload& workload,
                                         const std::vector<std::string>& names) {
  std::vector<const Algorithm*> wanted;
  for (const std::string& name : names) {
    HOCKET_TRY_ASSIGN(const Algorithm* found, find_algorithm(name));
    wanted.push_back(found);
  }
  HOCKET_TRY_ASSIGN(const Algorithm* pipelined, find_algorithm(kPipelined));
  return ScheduleChooser(
      [&topology, &workload, wanted, pipelined](const Collective& collective) -> Result<VerifiedSchedule> {
        const PlanRequest request{topology, collective};
        for (const Algorithm* algorithm : wanted) {
          if (algorithm->supports(request).empty()) return plan_with(*algorithm, request);
        }
        if (pipelined->supports(request).empty()) return plan_with(*pipelined, request);
        HOCKET_TRY_ASSIGN(Planning planning, plan_collective(topology, largest(workload, collective), {}));
        return planning.candidates[planning.chosen].plan.verified();
      });
}

}  // namespace hocket

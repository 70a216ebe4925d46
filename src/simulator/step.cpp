#include "simulator/step.h"

#include "simulator/graph_step.h"

namespace hocket {
namespace {

constexpr std::uint64_t kInstancesMax = std::uint64_t{1} << 24;

Result<void> check(const Workload& workload, const StepMachine& machine, const StepOptions& options) {
  if (!machine.platform.exceptions.empty())
    return fail(Code::kUnsupported,
                "platform '{}' has npus of different speed: a task graph is wanted (--microbatches 1)",
                machine.platform.name);
  HOCKET_TRY(validate(workload));
  if (options.steps == 0 || workload.nodes.size() * std::uint64_t{options.steps} > kInstancesMax) {
    return fail(Code::kInvalidArgument, "{} steps of {} nodes: 1 to {} nodes in all are simulated", options.steps,
                workload.nodes.size(), kInstancesMax);
  }
  for (const WorkNode& node : workload.nodes) {
    const WorkCompute& c = node.compute;
    if (node.collective || c.stated || c.flops <= 0) continue;
    if (machine.platform.endpoint.rates[static_cast<std::size_t>(c.type)]) continue;
    return fail(Code::kUnsupported, "'{}' of workload '{}' computes in {}, platform '{}' has no rate for it", node.name,
                workload.name, name_of(c.type), machine.platform.name);
  }
  return {};
}

}  // namespace

Result<StepResult> simulate_step(const Workload& workload, const StepMachine& machine, const ScheduleChooser& choose,
                                 const StepOptions& options) {
  HOCKET_TRY(check(workload, machine, options));
  const GroupChooser choose_for_all = [&](const Collective& collective, const Topology& /*network*/,
                                          Bytes /*largest*/) { return choose(collective); };
  const TaskGraph graph = graph_of(workload, machine.topology.rank_count());
  HOCKET_TRY_ASSIGN(GraphResult whole, simulate_graph(graph, machine, choose_for_all, options));
  return std::move(whole.step);
}

}  // namespace hocket

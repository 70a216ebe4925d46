#include "simulator/graph_step.h"

#include <algorithm>
#include <chrono>

#include "simulator/graph_run.h"
#include "simulator/power_cap.h"

namespace hocket {
namespace {

constexpr std::uint64_t kInstancesMax = std::uint64_t{1} << 26;

Result<void> check(const TaskGraph& graph, const StepMachine& machine, const StepOptions& options) {
  HOCKET_TRY(validate(graph));
  if (options.steps == 0) return fail(Code::kInvalidArgument, "0 steps: at least one is simulated");
  const auto tied = [](const Task& task) { return !task.after_previous.empty(); };
  const bool repeats = std::all_of(graph.programs.begin(), graph.programs.end(), [&](const TaskProgram& program) {
    return std::any_of(program.tasks.begin(), program.tasks.end(), tied);
  });
  if (options.steps > 1 && !repeats) {
    return fail(Code::kInvalidArgument,
                "{} steps of '{}': it does not say what the next step waits for, one is simulated", options.steps,
                graph.name);
  }
  for (const TaskProgram& program : graph.programs) {
    for (const Task& task : program.tasks) {
      const WorkCompute& c = task.compute;
      if (task.collective || task.message || c.stated || c.flops <= 0) continue;
      if (machine.platform.endpoint.rates[static_cast<std::size_t>(c.type)]) continue;
      return fail(Code::kUnsupported, "{}: {} '{}' computes in {}, platform '{}' has no rate for it", program.origin,
                  task.place, task.name, name_of(c.type), machine.platform.name);
    }
  }
  return {};
}

Result<void> check_size(const TaskGraph& graph, const StepOptions& options, bool folded) {
  std::uint64_t instances = 0;
  const std::uint32_t ranks = folded ? 1 : graph.ranks();
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    instances += graph.program(rank).tasks.size() * std::uint64_t{options.steps};
  if (instances <= kInstancesMax) return {};
  return fail(Code::kResourceExhausted, "{} tasks of {} ranks in {} steps: at most {} are simulated", instances, ranks,
              options.steps, kInstancesMax);
}

}  // namespace

Result<GraphResult> simulate_graph(const TaskGraph& graph, const StepMachine& machine, const GroupChooser& choose,
                                   const StepOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  HOCKET_TRY(check(graph, machine, options));
  HOCKET_TRY_ASSIGN(const GraphPlans plans, GraphPlans::make({graph, machine, choose, options.fold}));
  HOCKET_TRY(check_size(graph, options, plans.folded()));
  std::optional<EngineCuts> cuts;
  if (machine.engine.kind == EngineKind::kAce && !plans.running().empty()) {
    HOCKET_TRY_ASSIGN(cuts, EngineCuts::make(machine.engine, plans.running(), options.partitions));
  }
  const auto run = [&](double frequency) {
    return GraphRun({graph, machine, options, plans, cuts ? &*cuts : nullptr, frequency}).run();
  };
  HOCKET_TRY_ASSIGN(GraphResult result, options.power_cap_W != 0
                                            ? hold_power_cap(options.power_cap_W, machine.platform.power, run)
                                            : run(1));
  result.step.algorithms = plans.algorithms(graph);
  result.step.memory = graph.memory.value_or(WorkMemory{});
  result.step.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace hocket

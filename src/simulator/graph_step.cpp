#include "simulator/graph_step.h"

#include <chrono>

#include "simulator/graph_limits.h"
#include "simulator/graph_run.h"
#include "simulator/power_cap.h"

namespace hocket {

Result<GraphResult> simulate_graph(const TaskGraph& graph, const StepMachine& machine, const GroupChooser& choose,
                                   const StepOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  HOCKET_TRY(validate(graph));
  HOCKET_TRY(check_step(graph, machine, options));
  HOCKET_TRY(check_size(graph, machine, options, Counted::kOneRankOfEachProgram));
  HOCKET_TRY_ASSIGN(const GraphPlans plans, GraphPlans::make({graph, machine, choose, options.fold}));
  if (!plans.folded()) HOCKET_TRY(check_size(graph, machine, options, Counted::kEveryRank));
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

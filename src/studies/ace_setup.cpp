#include "studies/ace_setup.h"

#include "planner/step_choice.h"

namespace hocket {

Result<AceBench> AceBench::make(std::string_view shape) {
  HOCKET_TRY_ASSIGN(Platform platform, platform_from_words(fmt::format("ace:{}", shape)));
  HOCKET_TRY_ASSIGN(Topology topology, platform.build_topology());
  return AceBench(std::move(platform), std::move(topology));
}

AceBench AceBench::without(double units, double memory) const {
  AceBench less = *this;
  EndpointModel& endpoint = less.platform_.endpoint;
  const double share = 1 - units / endpoint.compute_units->value;
  endpoint.compute_units->value -= units;
  endpoint.memory_bandwidth->value -= memory;
  for (MaybeFigure& rate : endpoint.rates) {
    if (rate) rate->value *= share;
  }
  return less;
}

Result<CommunicationEngine> AceBench::endpoint(std::string_view name) const {
  HOCKET_TRY_ASSIGN(const CommunicationEngine* found, platform_.engine(name));
  CommunicationEngine engine = *found;
  if (engine.memory_bandwidth && engine.overlaps) engine.split = BudgetSplit::kStatic;
  return engine;
}

Result<StepResult> AceBench::all_reduce(Bytes size, const CommunicationEngine& engine,
                                        std::string_view algorithm) const {
  Workload one{"all-reduce", "", {}};
  one.nodes.push_back({.name = "all_reduce",
                       .phase = StepPhase::kWeightGradient,
                       .collective = WorkCollective{CollectiveKind::kAllReduce, size, DataType::kF32}});
  const StepMachine machine{platform_, topology_, engine};
  HOCKET_TRY_ASSIGN(const ScheduleChooser choose, choose_schedules(machine, one, {std::string(algorithm)}));
  return simulate_step(one, machine, choose);
}

Result<StepResult> AceBench::train(const Workload& workload, const CommunicationEngine& engine) const {
  const StepMachine machine{platform_, topology_, engine};
  HOCKET_TRY_ASSIGN(const ScheduleChooser choose, choose_schedules(machine, workload, {}));
  return simulate_step(workload, machine, choose, {.steps = 2});
}

Result<double> AceBench::network_rate(const CommunicationEngine& engine) const {
  HOCKET_TRY_ASSIGN(const StepResult result, all_reduce(kLarge, engine));
  return result.sent_bytes / to_seconds(result.time).value;
}

Result<double> AceBench::memory_needed(CommunicationEngine engine, double ideal) const {
  engine.split = BudgetSplit::kShared;
  double low = 0;
  double high = platform_.endpoint.memory_bandwidth->value;
  while (high - low > 1e9) {
    const double middle = (low + high) / 2;
    engine.memory_bandwidth = Figure{middle, {}};
    HOCKET_TRY_ASSIGN(const double rate, network_rate(engine));
    (rate >= kEnough * ideal ? high : low) = middle;
  }
  return high;
}

Result<double> AceBench::units_needed(CommunicationEngine engine, double ideal) const {
  engine.memory_bandwidth = platform_.endpoint.memory_bandwidth;
  engine.split = BudgetSplit::kShared;
  for (double units = 1;; ++units) {
    engine.units = Figure{units, {}};
    HOCKET_TRY_ASSIGN(const double rate, network_rate(engine));
    if (rate >= kEnough * ideal || units >= platform_.endpoint.compute_units->value) return units;
  }
}

}  // namespace hocket

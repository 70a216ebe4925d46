#include "planner/endpoint_choice.h"

#include <algorithm>
#include <numeric>

#include "simulator/graph_step.h"

namespace hocket {
namespace {

constexpr std::size_t kTried = 8;
/// What is tried is long enough for all phases and chunks to overlap, and no longer.
constexpr Bytes kTrialMax{std::int64_t{128} << 20};

/// Of times that differ by no more than that the one counts that takes less from compute.
constexpr double kAlike = 1.01;

struct Trial {
  std::size_t candidate = 0;
  double time = 0;
  double memory = 0;  // bytes read and written
};

std::optional<Trial> try_alone(const Planning& planning, std::size_t candidate, const BoundCollective& largest,
                               const StepMachine& machine) {
  Workload trial{"trial", "", {}, {}};
  const WorkCollective what{largest.collective.kind, std::min(largest.bytes(), kTrialMax), largest.type};
  trial.nodes.push_back({.name = "trial", .phase = StepPhase::kWeightGradient, .collective = what});
  const GroupChooser only = [&](const Collective&, const Topology&, Bytes) -> Result<VerifiedSchedule> {
    return planning.candidates[candidate].plan.verified();
  };
  const Result<GraphResult> result = simulate_graph(graph_of(trial, machine.topology.rank_count()), machine, only, {});
  if (!result) return std::nullopt;
  const StepResult& step = result->step;
  return Trial{candidate, to_seconds(step.time).value, step.memory_bytes_read + step.memory_bytes_written};
}

}  // namespace

VerifiedSchedule fastest_at_endpoints(const Planning& planning, const BoundCollective& largest,
                                      const StepMachine& machine) {
  std::vector<std::size_t> order(planning.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return planning.candidates[a].simulated.time < planning.candidates[b].simulated.time;
  });
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < std::min(order.size(), kTried); ++i) {
    if (const auto trial = try_alone(planning, order[i], largest, machine)) trials.push_back(*trial);
  }
  if (trials.empty()) return planning.candidates[planning.chosen].plan.verified();
  const auto faster = [](const Trial& a, const Trial& b) { return a.time < b.time; };
  const double least = std::min_element(trials.begin(), trials.end(), faster)->time;
  std::erase_if(trials, [least](const Trial& trial) { return trial.time > least * kAlike; });
  const auto lighter = [](const Trial& a, const Trial& b) { return a.memory < b.memory; };
  const Trial& best = *std::min_element(trials.begin(), trials.end(), lighter);
  return planning.candidates[best.candidate].plan.verified();
}

}  // namespace hocket

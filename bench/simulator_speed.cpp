// Events per second of the simulator on one core: ring and MultiTree all-reduce of 64 MiB on tori, rings of growing
// size (the time per event must not grow faster than caches explain), then the other two models. One line per case:
// events, seconds, events per second, the best of three, set-up (routes, frontier) included; an event:
// docs/simulation.md.
#include <fmt/format.h>

#include <algorithm>

#include "planner/planner.h"
#include "topology/spec.h"

namespace {

using namespace hocket;

struct Case {
  const char* topology;
  const char* algorithm;
  std::int64_t segment = std::int64_t{1} << 30;
  NetworkModel model = NetworkModel::kMessage;
  std::int64_t count = std::int64_t{16} << 20;
};

int measure(const Case& c) {
  const auto topology = topology_from_spec(c.topology, {});
  const auto algorithm = find_algorithm(c.algorithm);
  if (!topology || !algorithm) return 2;
  const Collective collective{CollectiveKind::kAllReduce, topology->rank_count(), 0};
  const auto verified = plan_algorithm(**algorithm, {*topology, collective});
  if (!verified) return 2;
  const auto plan = Plan::bind(*verified, {collective, c.count, DataType::kF32, ReduceOp::kSum}, {c.segment});
  if (!plan) return 2;
  const Bound none{};
  double best = 1e9;
  std::uint64_t events = 0;
  for (int i = 0; i < 3; ++i) {
    const auto result = simulate(*plan, *topology, {.model = c.model, .bound = &none});
    if (!result) return 1;
    best = std::min(best, result->wall_s);
    events = result->events;
  }
  fmt::print("{:<8} {:<12} {:<10} {:>9} ops {:>10} events  {:8.3f} s  {:6.2f} M events/s\n", name_of(c.model),
             c.topology, c.algorithm, plan->schedule().ops().size(), events, best,
             static_cast<double>(events) / best / 1e6);
  return 0;
}

}  // namespace

int main() {
  constexpr std::int64_t kSmall = 16384;
  constexpr Case kCases[] = {
      {"torus:4x4", "ring", kSmall},
      {"torus:4x4", "multitree", kSmall},
      {"torus:8x8", "ring", kSmall},
      {"torus:8x8", "multitree", kSmall},
      {"torus:16x16", "ring", kSmall},
      {"torus:16x16", "multitree", kSmall},
      {"ring:64", "ring"},
      {"ring:256", "ring"},
      {"ring:1024", "ring"},
      {"torus:8x8", "multitree", kSmall, NetworkModel::kPacket, std::int64_t{1} << 20},
      {"torus:8x8", "multitree", kSmall * 4, NetworkModel::kFluid, std::int64_t{1} << 20},
  };
  for (const Case& c : kCases) {
    if (const int rc = measure(c); rc != 0) return rc;
  }
}

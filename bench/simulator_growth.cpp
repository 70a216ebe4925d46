// Time per event of the simulator while events grow from 10^4 to 10^8: the all-reduce of a ring of 64 whose messages
// are cut into more and more segments, in the message model. One line per case and, last, the slowest over the fastest,
// which a cost per event that does not grow keeps below 2.
#include <fmt/format.h>

#include <algorithm>

#include "planner/planner.h"
#include "topology/spec.h"

namespace {

using namespace hocket;

/// Nanoseconds per event; 0: something failed.
double measure(const VerifiedSchedule& schedule, const Topology& topology, std::int64_t segments) {
  constexpr std::int64_t kSegment = 4096;
  const std::int64_t count = kSegment / 4 * segments * topology.rank_count();
  const auto plan =
      Plan::bind(schedule, {schedule.schedule().collective(), count, DataType::kF32, ReduceOp::kSum}, Bytes{kSegment});
  if (!plan) return 0;
  const Bound none{};
  double best = 0;
  for (int i = 0; i < (segments > 100 ? 1 : 5); ++i) {
    const auto result = simulate(*plan, topology, {.bound = &none});
    if (!result) return 0;
    const double each = result->wall_s / static_cast<double>(result->events) * 1e9;
    if (i == 0) fmt::print("{:>10} events {:9.4f} s", result->events, result->wall_s);
    best = best > 0 ? std::min(best, each) : each;
  }
  fmt::print("  {:6.1f} ns an event\n", best);
  return best;
}

}  // namespace

int main() {
  const auto topology = topology_from_spec("ring:64", {});
  const auto ring = find_algorithm("ring");
  if (!topology || !ring) return 2;
  const auto schedule = plan_algorithm(**ring, {*topology, {CollectiveKind::kAllReduce, 64, 0}});
  if (!schedule) return 2;
  double least = 1e9;
  double most = 0;
  for (const std::int64_t segments : {1, 10, 100, 1000, 6300}) {
    const double each = measure(*schedule, *topology, segments);
    if (each <= 0) return 1;
    least = std::min(least, each);
    most = std::max(most, each);
  }
  fmt::print("slowest over fastest: {:.2f}\n", most / least);
}

// Events per second of the message model on one core: ring and MultiTree all-reduce on tori of growing size, and the
// growth of the time per event. One line per case: events, seconds, events per second.
#include <fmt/format.h>

#include <chrono>

#include "planner/planner.h"
#include "topology/spec.h"

namespace {

using namespace hocket;

int measure(const std::string& spec, const std::string& name, std::int64_t segment) {
  const auto topology = topology_from_spec(spec, {});
  const auto algorithm = find_algorithm(name);
  if (!topology || !algorithm) return 2;
  const std::uint32_t n = topology->rank_count();
  const Collective collective{CollectiveKind::kAllReduce, n, 0};
  const auto verified = plan_algorithm(**algorithm, {*topology, collective});
  if (!verified) return 2;
  const auto plan =
      Plan::bind(*verified, {collective, std::int64_t{16} << 20, DataType::kF32, ReduceOp::kSum}, {segment});
  if (!plan) return 2;
  const Bound none{};
  double best = 1e9;
  std::uint64_t events = 0;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = simulate(*plan, *topology, {.bound = &none});
    if (!result) return 1;
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    events = result->events;
  }
  fmt::print("{:<14} {:<10} {:>10} events  {:8.3f} s  {:6.2f} M events/s (set-up included)\n", spec, name, events, best,
             static_cast<double>(events) / best / 1e6);
  return 0;
}

}  // namespace

int main() {
  for (const char* spec : {"torus:4x4", "torus:8x8"}) {
    for (const char* name : {"ring", "multitree"}) {
      if (const int rc = measure(spec, name, 16384); rc != 0) return rc;
    }
  }
  return measure("ring:1024", "ring", std::int64_t{1} << 30);
}

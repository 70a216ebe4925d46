// An all-reduce of 1 MiB by rings (one ring, or rings along every dimension) on 64 to 65,536 npus, one vertex for all:
// processor seconds and resident memory of planning, proof and simulation, each in a process of its own, beside the
// figures recorded for the standard simulator on the same kind of machine (user and system time; peak memory, which
// was not told apart below 14 MiB). One line per case; the ratios are theirs over ours.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "planner/symmetric_plan.h"
#include "topology/spec.h"

namespace {

using namespace hocket;

struct Case {
  const char* topology;
  double recorded_s = 0;    // the least of several; 0: never run
  double recorded_mib = 0;  // 0: not told apart
};

struct Cost {
  double seconds = 0;
  double mib = 0;
};

int run(const Case& c) {
  const auto topology = topology_from_spec(c.topology, {.links = {*parse_link_rate("50GB/s,500ns")}});
  if (!topology) return 2;
  const Collective collective{CollectiveKind::kAllReduce, topology->rank_count(), 0};
  const auto plan = plan_symmetric_rings(*topology, {collective, 1 << 18, DataType::kF32, ReduceOp::kSum});
  return plan ? 0 : 1;
}

/// In a child; a case of null does nothing.
std::optional<Cost> cost_of(const Case* c) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) _exit(c == nullptr ? 0 : run(*c));
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return Cost{seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
}

}  // namespace

int main() {
  constexpr Case kCases[] = {
      {"ring:64", 0.04, 0},          {"torus:8x8", 0.02, 0},      {"torus:4x4x4", 0.02, 0},
      {"ring:512", 2.60, 101},       {"torus:8x8x8", 0.21, 29},   {"ring:4096", 565.5, 5458},
      {"torus:16x16x16", 8.71, 192}, {"torus:64x64", 17.74, 298}, {"torus:64x32x32"},
  };
  constexpr double kBaseOfTheirs = 14;
  const auto base = cost_of(nullptr);
  if (!base) return 1;
  fmt::print("base: {:.1f} MiB\n", base->mib);
  for (const Case& c : kCases) {
    const auto cost = cost_of(&c);
    if (!cost) return 1;
    const double above = std::max(cost->mib - base->mib, 0.1);
    fmt::print("{:<15} {:8.4f} s {:7.1f} MiB above base", c.topology, cost->seconds, above);
    if (c.recorded_s > 0) fmt::print("  time {:9.1f}x", c.recorded_s / std::max(cost->seconds, 1e-4));
    if (c.recorded_mib > 0) fmt::print("  memory {:6.1f}x", (c.recorded_mib - kBaseOfTheirs) / above);
    fmt::print("\n");
  }
}

// Random connected topology x every algorithm that supports it x every collective x random size: proved, simulated not
// below the bound (simulate() refuses otherwise), and executed in a random order equal to the serial definition.
// A failure prints the spec, algorithm and collective: `hocket plan COLLECTIVE --topo SPEC --algo NAME` replays it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/executor.h"
#include "engine/reference.h"
#include "planner/planner.h"
#include "support/small_executor.h"
#include "topology/spec.h"

namespace hocket {
namespace {

std::string random_spec(Random& random) {
  const std::uint64_t n = 2 + random.below(9);
  switch (random.below(10)) {
    case 0:
      return fmt::format("ring:{}", n);
    case 1:
      return fmt::format("line:{}", n);
    case 2:
      return fmt::format("torus:{}x{}", 2 + random.below(3), 2 + random.below(3));
    case 3:
      return fmt::format("mesh:{}x{}", 1 + random.below(4), 2 + random.below(3));
    case 4:
      return fmt::format("full:{}", n);
    case 5:
      return fmt::format("switch:{}", n);
    case 6:
      return fmt::format("fattree:{}x{}x{}", 2 + random.below(2), 1 + random.below(3), 1 + random.below(2));
    case 7:
      return fmt::format("boxes:{}x{}", 1 + random.below(3), 2 + random.below(3));
    case 8:
      return fmt::format("bigraph:{}x{}", 2 * (1 + random.below(2)), 1 + random.below(2));
    default:
      return fmt::format("random:{},{},{}", 5 + random.below(4) * 2 + 1, 4, random.below(1000));
  }
}

/// Executes on the real engine: whole numbers of any type against the definition, random floats against the schedule's
/// own order; bit for bit.
void execute_and_compare(const VerifiedSchedule& verified, Random& random) {
  const Collective& collective = verified.schedule().collective();
  BoundCollective what{collective, static_cast<std::int64_t>(random.below(700)),
                       static_cast<DataType>(random.below(kDataTypes)),
                       static_cast<ReduceOp>(random.below(kReduceOps))};
  if (is_blocked(collective.kind)) what.count *= collective.ranks;
  if (what.op == ReduceOp::kAvg && !verified.can_average()) what.op = ReduceOp::kSum;
  const Result<Plan> plan = Plan::bind(verified, what, {static_cast<std::int64_t>(8 + random.below(512))});
  ASSERT_TRUE(plan) << plan.error().text;
  std::vector<RankBytes> inputs(collective.ranks);
  std::vector<RankBytes> outputs(collective.ranks);
  std::vector<RankBuffers> buffers(collective.ranks);
  for (std::uint32_t r = 0; r < collective.ranks; ++r) {
    inputs[r].resize(static_cast<std::size_t>(input_count(what, r) * size_of(what.type)));
    outputs[r].resize(static_cast<std::size_t>(output_count(what, r) * size_of(what.type)));
    for (std::byte& b : inputs[r]) b = static_cast<std::byte>(random.next());
    buffers[r] = {inputs[r].data(), outputs[r].data()};
  }
  const Result<RunReport> report = execute(*plan, buffers);
  ASSERT_TRUE(report) << report.error().text;
  const auto ordered = interpret(*plan, inputs);
  ASSERT_TRUE(ordered) << ordered.error().text;
  ASSERT_EQ(*ordered, outputs) << name_of(what.type) << " " << name_of(what.op) << " count " << what.count;
  const bool floats = what.type >= DataType::kF16;
  if (floats && reduces(collective.kind)) return;
  const auto defined = reference_result(what, inputs);
  ASSERT_TRUE(defined) << defined.error().text;
  ASSERT_EQ(*defined, outputs) << name_of(what.type) << " " << name_of(what.op) << " count " << what.count;
}

void check(const Topology& topology, const Algorithm& algorithm, const Collective& collective, Random& random) {
  SCOPED_TRACE(
      fmt::format("hocket plan {} --topo {} --algo {}", name_of(collective.kind), topology.name(), algorithm.name));
  const Result<VerifiedSchedule> verified = plan_algorithm(algorithm, {topology, collective});
  ASSERT_TRUE(verified) << verified.error().text;
  EXPECT_TRUE(verified->in_place() || !may_alias(collective.kind));
  SmallExecutor executor(verified->schedule(), random.next());
  ASSERT_TRUE(executor.run());
  ASSERT_TRUE(executor.right());
  execute_and_compare(*verified, random);
  BoundCollective what{collective, static_cast<std::int64_t>(random.below(random.chance(0.2) ? 3 : 200000)),
                       DataType::kF32, ReduceOp::kSum};
  if (is_blocked(collective.kind)) what.count *= collective.ranks;
  for (const std::int64_t segment : {std::int64_t{1} << 30, std::int64_t{4096}}) {
    const Result<Plan> plan = Plan::bind(*verified, what, {segment});
    ASSERT_TRUE(plan) << plan.error().text;
    for (const NetworkModel model : kNetworkModels) {
      const Result<SimulationResult> result = simulate(*plan, topology, {.model = model});
      ASSERT_TRUE(result) << result.error().text;
    }
  }
}

TEST(PlannedCollectives, ProvedBoundedAndRight) {
  const char* scale = std::getenv("HOCKET_TEST_SCALE");
  const int rounds = 40 * (scale != nullptr ? std::max(1, std::atoi(scale)) : 1);
  Random random(20261128);
  std::size_t checked = 0;
  for (int round = 0; round < rounds && !::testing::Test::HasFatalFailure(); ++round) {
    const std::string spec = random_spec(random);
    TopologyOptions options;
    options.links = {
        {{1e9 * static_cast<double>(1 + random.below(100))}, {1e-9 * static_cast<double>(random.below(1000))}}};
    const Result<Topology> topology = topology_from_spec(spec, options);
    if (!topology) continue;  // a random graph that cannot be
    for (const Algorithm* algorithm : algorithms()) {
      for (int k = 0; k < kCollectiveKinds; ++k) {
        const auto kind = static_cast<CollectiveKind>(k);
        const std::uint32_t n = topology->rank_count();
        const Collective collective{kind, n, is_rooted(kind) ? static_cast<std::uint32_t>(random.below(n)) : 0};
        if (n > 1 && !algorithm->supports({*topology, collective}).empty()) continue;
        check(*topology, *algorithm, collective, random);
        ++checked;
      }
    }
  }
  std::printf("plans checked: %zu\n", checked);
  EXPECT_GT(checked, 100U);
}

}  // namespace
}  // namespace hocket

// Collectives with different phases beside one another in an ace engine: chunks enter phases in one order on all ranks,
// so that no rank holds a state machine for a chunk whose partners wait elsewhere.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "simulator/engine_memory.h"
#include "support/graph_world.h"
#include "workload/model.h"

namespace hocket {
namespace {

using test::GraphWorld;

/// An all-to-all and an all-reduce of many chunks after each of a few kernels of different lengths.
Workload mixed_collectives() {
  Workload w{"mixed", "tests", {}, {}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto kernel = static_cast<NodeId>(w.nodes.size());
    w.nodes.push_back({.name = "kernel", .compute = {1e8 * (1 + i), DataType::kF16, 0, {}}});
    if (i > 0) w.nodes.back().after = {kernel - 3};
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
      w.nodes.push_back({.name = std::string(name_of(kind)),
                         .collective = WorkCollective{kind, {std::int64_t{3 + i} << 18}, DataType::kF32},
                         .after = {kernel}});
    }
  }
  return w;
}

class MixedCollectives : public ::testing::TestWithParam<std::string> {};

TEST_P(MixedCollectives, EndWithEveryEngineAndOrder) {
  const GraphWorld world(GetParam(), "");
  for (const Workload& w : {workload_from_model("dlrm", {.batch = 32}).value(), mixed_collectives()}) {
    const TaskGraph graph = graph_of(w, world.topology.rank_count());
    for (CommunicationEngine engine : world.platform.engines) {
      for (const CollectiveOrder order : {CollectiveOrder::kFifo, CollectiveOrder::kLifo}) {
        engine.order = order;
        const auto result = simulate_graph(graph, world.machine(engine), world.chooser(), {.fold = false});
        EXPECT_TRUE(result) << w.name << " with " << engine.name << ": " << result.error().text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, MixedCollectives,
                         ::testing::Values("ace:2x2x1", "ace:4x1x1", "ace:3x2x1", "ace:2x2x2"));

/// The all-reduce and the all-to-all of mixed_collectives() on a torus, and the engine that runs them.
struct MixedCuts {
  explicit MixedCuts(double machines) {
    CommunicationEngine engine = *world.platform.engine("ace").value();
    engine.machines->value = machines;
    const GroupChooser choose = world.chooser();
    plans.emplace(GraphPlans::make({graph, world.machine(engine), choose, true}).value());
    const auto phases = [](const ChunkShape* shape) { return shape->held.size(); };
    reduce = phases(plans->running()[0]) > 1 ? 0 : 1;
    cuts.emplace(EngineCuts::make(engine, plans->running(), PartitionRule{}).value());
    sram = engine.sram->value;
  }
  [[nodiscard]] EngineCuts::Running only(std::uint32_t algorithm) const { return {algorithm == 0, algorithm == 1}; }
  GraphWorld world{"ace:4x2x1", ""};
  TaskGraph graph = graph_of(mixed_collectives(), world.topology.rank_count());
  std::optional<GraphPlans> plans;
  std::optional<EngineCuts> cuts;
  std::uint32_t reduce = 0;
  double sram = 0;
};

std::uint32_t sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0U);
}

TEST(EngineOrder, MachinesAndMemoryGoToThePhasesOfWhatRuns) {
  MixedCuts mixed(16);
  ASSERT_EQ(mixed.cuts->algorithms(), 2U);
  const std::uint32_t exchange = 1 - mixed.reduce;
  for (const EngineCuts::Running& running : {mixed.only(0), mixed.only(1), EngineCuts::Running{true, true}}) {
    const EngineCut& cut = mixed.cuts->of(running);
    EXPECT_EQ(sum(cut.machines), 16U);
    for (std::uint32_t a = 0; a < 2; ++a) {
      for (std::uint32_t p = mixed.cuts->first(a); p < mixed.cuts->first(a + 1); ++p) {
        EXPECT_EQ(cut.machines[p] > 0, running[a]);
        EXPECT_EQ(cut.partitions[p] > 0, running[a]);
      }
    }
    const std::int64_t all = std::accumulate(cut.partitions.begin(), cut.partitions.end(), std::int64_t{0});
    EXPECT_LE(static_cast<double>(all), mixed.sram);
    EXPECT_GE(static_cast<double>(all), mixed.sram - static_cast<double>(cut.partitions.size()));
  }
  EXPECT_EQ(mixed.cuts->of(mixed.only(exchange)).machines[mixed.cuts->first(exchange)], 16U);
}

TEST(EngineOrder, AnAlgorithmWithoutMachinesWaitsUntilTheOthersHaveEnded) {
  const std::size_t phases = MixedCuts(16).plans->running()[MixedCuts(16).reduce]->held.size();
  MixedCuts mixed(static_cast<double>(phases));
  const std::uint32_t exchange = 1 - mixed.reduce;
  EngineMemory memory(*mixed.cuts);
  EXPECT_TRUE(memory.admits(exchange));
  memory.admit(0, mixed.reduce, 10);
  EXPECT_FALSE(memory.admits(exchange));
  EXPECT_TRUE(memory.admits(mixed.reduce));
  memory.admit(1, mixed.reduce, 10);
  memory.end(mixed.reduce);
  EXPECT_FALSE(memory.admits(exchange));
  memory.end(mixed.reduce);
  EXPECT_TRUE(memory.admits(exchange));
}

TEST(EngineOrder, AChunkEntersAPhaseAfterAllThatWereAdmittedBeforeIt) {
  MixedCuts mixed(16);
  EngineMemory memory(*mixed.cuts);
  const std::uint32_t second = mixed.cuts->first(mixed.reduce) + 1;
  memory.admit(0, mixed.reduce, 10);
  memory.admit(1, 1 - mixed.reduce, 10);  // has one phase only
  memory.admit(2, mixed.reduce, 10);
  memory.wait_for_room(2, second);
  EXPECT_EQ(memory.next(second), std::nullopt);
  memory.wait_for_room(1, memory.terminal());
  EXPECT_EQ(memory.next(memory.terminal()), 1U);
  memory.wait_for_room(0, second);
  EXPECT_EQ(memory.next(second), 0U);
  memory.enter(second, 10);
  EXPECT_EQ(memory.next(second), 2U);
  const std::int64_t room = mixed.cuts->of({true, true}).partitions[second];
  memory.enter(second, 10);
  EXPECT_EQ(memory.next(second), std::nullopt);
  EXPECT_FALSE(memory.has_room(second, room - 19));
  EXPECT_TRUE(memory.has_room(second, room - 20));
}

}  // namespace
}  // namespace hocket

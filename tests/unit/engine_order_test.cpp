// Collectives with different phases beside one another in an ace engine: chunks enter phases in one order on all ranks,
// so that no rank holds a state machine for a chunk whose partners wait elsewhere.
#include <gtest/gtest.h>

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

TEST(EngineOrder, AChunkEntersAPhaseAfterAllThatWereAdmittedBeforeIt) {
  const EngineLayout layout{{100, 100, 100}, {2, 2}};
  EngineMemory memory(layout);
  memory.admit(0, 2, 10);
  memory.admit(1, 1, 10);  // has one phase only
  memory.admit(2, 2, 10);
  memory.wait_for_room(2, 1);
  EXPECT_EQ(memory.next(1), std::nullopt);
  memory.wait_for_room(1, memory.terminal());
  EXPECT_EQ(memory.next(memory.terminal()), 1U);
  memory.wait_for_room(0, 1);
  EXPECT_EQ(memory.next(1), 0U);
  memory.enter(1, 10);
  EXPECT_EQ(memory.next(1), 2U);
  memory.enter(1, 10);
  EXPECT_EQ(memory.next(1), std::nullopt);
  EXPECT_FALSE(memory.has_room(1, 81));
  EXPECT_TRUE(memory.has_room(1, 80));
}

}  // namespace
}  // namespace hocket

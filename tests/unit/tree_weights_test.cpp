// Tree weights: that a plan's trees, roots, heights and shares are found from its moves alone, shares of unequal pieces
// included, and that schedules whose pieces do not travel along trees have none.
#include "planner/tree_weights.h"

#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/algorithm.h"
#include "schedule/builder.h"
#include "topology/spec.h"

namespace hocket {
namespace {

std::optional<std::vector<WeighedTree>> weigh(std::string_view algorithm, CollectiveKind kind, std::string_view spec) {
  const Topology topology = *topology_from_spec(spec, {});
  const Collective collective{kind, topology.rank_count(), 0};
  const Algorithm* const found = *find_algorithm(algorithm);
  return weigh_trees(*found->plan({topology, collective}));
}

double sum_of(const std::vector<WeighedTree>& trees) {
  return std::accumulate(trees.begin(), trees.end(), 0.0, [](double s, const auto& tree) { return s + tree.weight; });
}

TEST(TreeWeights, OfARingAreItsPaths) {
  const auto trees = weigh("ring", CollectiveKind::kAllReduce, "ring:5");
  ASSERT_TRUE(trees);
  ASSERT_EQ(trees->size(), 5U);
  for (const WeighedTree& tree : *trees) {
    EXPECT_EQ(tree.height, 4U);
    EXPECT_DOUBLE_EQ(tree.weight, 0.2);
  }
  EXPECT_EQ(text_of(*trees), "5 trees of weight 1/5, height 4");
}

TEST(TreeWeights, OfPackedTreesAddUpToTheVector) {
  for (const char* spec : {"mesh:4x4", "torus:4x4", "dgx1", "boxes:2x4"}) {
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
      const auto trees = weigh("packed_trees", kind, spec);
      ASSERT_TRUE(trees) << spec;
      EXPECT_NEAR(sum_of(*trees), 1, 1e-9) << spec;
    }
  }
}

TEST(TreeWeights, OfABroadcastHaveItsRoot) {
  const auto trees = weigh("multitree", CollectiveKind::kBroadcast, "torus:3x3");
  ASSERT_TRUE(trees);
  for (const WeighedTree& tree : *trees) EXPECT_EQ(tree.root, 0U);
}

TEST(TreeWeights, AreNoneWhereARankGivesItsPieceTwice) {
  EXPECT_FALSE(weigh("recursive_doubling", CollectiveKind::kAllReduce, "hypercube:3"));
}

// Three pieces, 1 : 1 : 6, from rank 0: the first two along 0-1-2, the last one from 0 to both.
TEST(TreeWeights, FollowThePiecesSizes) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0},
                          {.blocks = 1, .pieces_per_block = 3, .weights = {1, 1, 6}}, "two_trees");
  const PieceRange light{Buffer::kOutput, 0, 2};
  const PieceRange heavy{Buffer::kOutput, 2, 1};
  builder.copy(0, {Buffer::kInput, 0, 3}, {Buffer::kOutput, 0, 3});
  builder.send(0, 1, light);
  builder.recv(1, 0, light);
  builder.send(1, 2, light);
  builder.recv(2, 1, light);
  for (const std::uint32_t peer : {1U, 2U}) {
    builder.send(0, peer, heavy);
    builder.recv(peer, 0, heavy);
  }
  const auto trees = weigh_trees(*std::move(builder).finish());
  ASSERT_TRUE(trees);
  ASSERT_EQ(trees->size(), 2U);
  EXPECT_DOUBLE_EQ(trees->at(0).weight, 0.25);
  EXPECT_EQ(trees->at(0).height, 2U);
  EXPECT_DOUBLE_EQ(trees->at(1).weight, 0.75);
  EXPECT_EQ(trees->at(1).height, 1U);
  EXPECT_EQ(text_of(*trees), "2 trees of weight 1/4 to 0.75, heights 1 to 2");
}

}  // namespace
}  // namespace hocket

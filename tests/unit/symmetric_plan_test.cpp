// Symmetric plans against the same plans written out: copies of the tree make a schedule that the verifier proves, and
// the folded run ends when the whole one does. And what the proof of symmetry refuses.
#include "planner/symmetric_plan.h"

#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "algorithms/parts/trees.h"
#include "simulator/simulator.h"
#include "topology/spec.h"
#include "verify/verify.h"

namespace hocket {
namespace {

Topology make(std::string_view spec, std::vector<std::string> links = {"16GB/s,150ns"}) {
  TopologyOptions options;
  for (const std::string& link : links) options.links.push_back(*parse_link_rate(link));
  return *apply_changes(*topology_from_spec(spec, options), options);
}

BoundCollective bind(CollectiveKind kind, const Topology& t, std::int64_t elements_per_rank) {
  return {{kind, t.rank_count(), 0}, elements_per_rank * t.rank_count(), DataType::kF32, ReduceOp::kSum};
}

Result<Schedule> written_out(const Topology& t, const SymmetricTree& tree, CollectiveKind kind) {
  const Translations translations = *Translations::of(t);
  const Trees down = all_copies(translations, tree, false);
  const Trees up = all_copies(translations, tree, true);
  return schedule_trees({kind, t.rank_count(), 0}, {.up = up, .down = down, .topology = &t}, "symmetric");
}

class SymmetricPlans : public testing::TestWithParam<std::tuple<const char*, CollectiveKind>> {};

TEST_P(SymmetricPlans, AreTheWrittenOutOnes) {
  const auto& [spec, kind] = GetParam();
  const Topology t = make(spec);
  for (const std::int64_t elements : {1, 1000, 4096}) {
    for (const std::int64_t segment : {1024, 1 << 20}) {
      const BoundCollective what = bind(kind, t, elements);
      const auto plan = plan_symmetric(t, what, Bytes{segment});
      ASSERT_TRUE(plan) << spec << ' ' << plan.error().text;
      auto schedule = written_out(t, plan->tree, kind);
      ASSERT_TRUE(schedule) << schedule.error().text;
      auto verified = prove(std::move(*schedule));
      ASSERT_TRUE(verified) << verified.error().text;
      const auto bound = Plan::bind(std::move(*verified), what, Bytes{segment});
      ASSERT_TRUE(bound);
      const auto simulated = simulate(*bound, t, {});
      ASSERT_TRUE(simulated) << simulated.error().text;
      EXPECT_EQ(plan->simulated.time.count, simulated->time.count) << spec << ' ' << elements << ' ' << segment;
      for (std::uint32_t c = 0; c < plan->simulated.class_bytes.size(); ++c) {
        EXPECT_EQ(plan->simulated.class_bytes[c], simulated->link_bytes[Translations::of(t)->link(1, c)]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SymmetricPlans,
                         testing::Combine(testing::Values("ring:5", "torus:4x4", "torus:8x8", "torus:3x4x5",
                                                          "hypercube:5", "full:7", "torus:2x6"),
                                          testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                                          CollectiveKind::kReduceScatter)));

class SymmetricRingPlans : public testing::TestWithParam<std::tuple<const char*, CollectiveKind>> {};

// The algorithm of every rank, in whole messages, on one rate and on a slower one for each further dimension.
TEST_P(SymmetricRingPlans, AreTheWrittenOutOnes) {
  const auto& [spec, kind] = GetParam();
  for (const std::vector<std::string>& links :
       {std::vector<std::string>{"16GB/s,150ns"}, {"16GB/s,150ns", "7GB/s,300ns", "3GB/s,1us"}}) {
    const bool grid = std::string_view(spec).starts_with("torus");
    const Topology t = make(spec, grid ? links : std::vector<std::string>{links.back()});
    for (const std::int64_t elements : {6, 6000}) {
      const BoundCollective what = bind(kind, t, elements);
      const auto plan = plan_symmetric_rings(t, what);
      ASSERT_TRUE(plan) << spec << ' ' << plan.error().text;
      EXPECT_EQ(plan->padded, 0);
      auto schedule = find_algorithm(plan->algorithm).value()->plan({t, what.collective});
      ASSERT_TRUE(schedule) << schedule.error().text;
      const auto bound = Plan::bind(*prove(std::move(*schedule)), what, Bytes{1 << 30});
      ASSERT_TRUE(bound);
      const auto simulated = simulate(*bound, t, {});
      ASSERT_TRUE(simulated) << simulated.error().text;
      EXPECT_EQ(plan->simulated.time.count, simulated->time.count) << spec << ' ' << elements;
      const Translations translations = *Translations::of(t);
      for (std::uint32_t c = 0; c < plan->simulated.class_bytes.size(); ++c)
        EXPECT_EQ(plan->simulated.class_bytes[c], simulated->link_bytes[translations.link(1, c)]) << spec << ' ' << c;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, SymmetricRingPlans,
                         testing::Combine(testing::Values("ring:5", "ring:8"),
                                          testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                                          CollectiveKind::kReduceScatter)));
INSTANTIATE_TEST_SUITE_P(Grids, SymmetricRingPlans,
                         testing::Combine(testing::Values("torus:4x4", "torus:3x5", "torus:8x3", "torus:3x4x5"),
                                          testing::Values(CollectiveKind::kAllReduce)));

TEST(SymmetricRings, PadSharesThatAreNotEqualAndRefuseOtherNetworks) {
  const Topology torus = make("torus:4x4");
  BoundCollective uneven = bind(CollectiveKind::kAllReduce, torus, 2);
  uneven.count += 1;
  const auto padded = plan_symmetric_rings(torus, uneven);
  ASSERT_TRUE(padded) << padded.error().text;
  EXPECT_EQ(padded->padded, 4 * (2 * 16 * 2 - 33));
  const Topology mesh = make("mesh:4x4");
  EXPECT_FALSE(plan_symmetric_rings(mesh, bind(CollectiveKind::kAllReduce, mesh, 4)));
  EXPECT_FALSE(plan_symmetric_rings(torus, bind(CollectiveKind::kBroadcast, torus, 4)));
  EXPECT_FALSE(plan_symmetric_rings(torus, bind(CollectiveKind::kAllGather, torus, 4)));
}

// Every class brings at most one vertex a step; MultiTree needs 5 on torus 4x4 and 17 on 8x8.
TEST(SymmetricPlan, StepsAreFew) {
  for (const auto& [spec, most] : std::vector<std::pair<const char*, std::uint32_t>>{
           {"torus:4x4", 5}, {"torus:8x8", 17}, {"hypercube:4", 5}, {"full:9", 1}}) {
    const Topology t = make(spec);
    const Translations translations = *Translations::of(t);
    const SymmetricTree tree = grow_symmetric_tree(translations);
    EXPECT_LE(tree.steps, most) << spec;
    EXPECT_GE(tree.steps * translations.classes(), t.rank_count() - 1) << spec;
  }
}

TEST(SymmetricPlan, RefusesWhatHasNoSymmetry) {
  const Topology mesh = make("mesh:4x4");
  const auto refused = plan_symmetric(mesh, bind(CollectiveKind::kAllReduce, mesh, 4), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "topology 'mesh:4x4' does not look the same from every vertex");
  const Topology torus = make("torus:4x4");
  EXPECT_FALSE(plan_symmetric(torus, bind(CollectiveKind::kBroadcast, torus, 4), {}));
  BoundCollective uneven = bind(CollectiveKind::kAllReduce, torus, 4);
  uneven.count += 1;
  EXPECT_FALSE(plan_symmetric(torus, uneven, {}));
}

/// The proof's words about a tree that was changed.
std::string refusal(const std::function<void(SymmetricTree&)>& change) {
  const Topology t = make("torus:4x4");
  const Translations translations = *Translations::of(t);
  SymmetricTree tree = grow_symmetric_tree(translations);
  change(tree);
  const auto proved = prove_symmetric(t, translations, tree, true);
  return proved ? "proved" : proved.error().text;
}

TEST(SymmetricProof, NamesWhatIsWrong) {
  EXPECT_EQ(refusal([](SymmetricTree& /*tree*/) {}), "proved");
  EXPECT_NE(refusal([](SymmetricTree& tree) { tree.edges.pop_back(); }).find("is not reached"), std::string::npos);
  EXPECT_NE(refusal([](SymmetricTree& tree) { tree.edges.push_back(tree.edges[0]); }).find("reached twice"),
            std::string::npos);
  EXPECT_NE(refusal([](SymmetricTree& tree) { tree.edges[5].step = 0; }).find("forwards in step"), std::string::npos);
  EXPECT_NE(refusal([](SymmetricTree& tree) { tree.edges[1].cls = tree.edges[0].cls; }).find("leads from"),
            std::string::npos);
  EXPECT_NE(refusal([](SymmetricTree& tree) {
              for (auto& edge : tree.edges) edge.step = edge.step * 10;
              tree.edges[4].step = tree.edges[8].step;
            }),
            "proved");
}

}  // namespace
}  // namespace hocket

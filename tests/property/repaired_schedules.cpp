// Schedules of trees planned on a whole network, repaired after it lost a random cable, rank or switch: proved,
// simulated not below the new bound, and what cannot be repaired is refused.
#include <gtest/gtest.h>

#include "algorithms/packing/repair.h"
#include "base/random.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

/// The spec's network, and the same without one cable or vertex that it can do without.
struct Networks {
  Topology whole;
  Topology damaged;
};

enum class Loss { kCable, kVertex };

std::optional<Networks> break_one(const std::string& spec, Loss loss, Random& random) {
  TopologyOptions options;
  options.links = {*parse_link_rate("25GB/s,300ns")};
  const Topology whole = *topology_from_spec(spec, options);
  const Link& link = whole.link(static_cast<LinkId>(random.below(whole.links().size())));
  const std::string& name = whole.vertices()[link.from].name;
  options.breaks = {loss == Loss::kVertex ? name : name + "-" + whole.vertices()[link.to].name};
  auto damaged = apply_changes(whole, options);
  if (!damaged) return std::nullopt;  // it fell apart
  return Networks{whole, *std::move(damaged)};
}

double repaired_fraction(const Networks& networks, const Algorithm& algorithm, const Collective& collective) {
  const auto old = algorithm.plan({networks.whole, collective});
  EXPECT_TRUE(old) << old.error().text;
  Collective left = collective;
  left.ranks = networks.damaged.rank_count();
  const std::string& root = networks.whole.vertices()[networks.whole.vertex_of(collective.root)].name;
  for (std::uint32_t r = 0; r < left.ranks && is_rooted(left.kind); ++r) {
    if (networks.damaged.vertices()[networks.damaged.vertex_of(r)].name == root) left.root = r;
  }
  const BoundCollective what{left, std::int64_t{left.ranks} << 18};
  const auto planning = repair_plan(*old, networks.whole, networks.damaged, what, {});
  EXPECT_TRUE(planning) << planning.error().text;
  if (!planning) return 0;
  return planning->bound.time.value / to_seconds(planning->candidates[0].simulated.time).value;
}

/// A rank of the whole network that is still there.
std::uint32_t any_survivor(const Networks& networks, Random& random) {
  const Topology& left = networks.damaged;
  const std::string& name = left.vertices()[left.ranks()[random.below(left.rank_count())]].name;
  for (std::uint32_t r = 0; r < networks.whole.rank_count(); ++r) {
    if (networks.whole.vertices()[networks.whole.vertex_of(r)].name == name) return r;
  }
  return 0;
}

std::size_t repair_all(const Networks& networks, Random& random) {
  std::size_t repaired = 0;
  for (const char* name : {"packed_trees", "multitree"}) {
    const Algorithm& algorithm = **find_algorithm(name);
    for (int k = 0; k < kCollectiveKinds; ++k) {
      const auto kind = static_cast<CollectiveKind>(k);
      const std::uint32_t root = is_rooted(kind) ? any_survivor(networks, random) : 0;
      const Collective collective{kind, networks.whole.rank_count(), root};
      if (!algorithm.supports({networks.whole, collective}).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {} on {}", name, name_of(kind), networks.damaged.name()));
      const double fraction = repaired_fraction(networks, algorithm, collective);
      EXPECT_GT(fraction, 0.02);
      EXPECT_LE(fraction, 1 + 1e-9);
      ++repaired;
    }
  }
  return repaired;
}

TEST(RepairedSchedules, AreProvedAndBounded) {
  Random random(20261128);
  for (const Loss loss : {Loss::kCable, Loss::kVertex}) {
    std::size_t repaired = 0;
    for (const char* spec : {"torus:4x4", "mesh:3x4", "hypercube:3", "dgx1", "fattree:3x2x2", "bigraph:4x2", "full:5",
                             "random:12,4,7", "ring:6", "boxes:3x2"}) {
      for (int round = 0; round < 4; ++round) {
        const auto networks = break_one(spec, loss, random);
        if (networks) repaired += repair_all(*networks, random);
      }
    }
    EXPECT_GE(repaired, 200U);
  }
}

TEST(RepairedSchedules, ALostRootIsNamed) {
  const Topology whole = *topology_from_spec("torus:4x4", {});
  const auto old = (*find_algorithm("multitree"))->plan({whole, {CollectiveKind::kBroadcast, 16, 5}});
  ASSERT_TRUE(old);
  const std::vector<std::uint32_t> survivors = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto refused = repair_schedule(*old, *apply_changes(whole, {.breaks = {"5"}}), survivors);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "rank 5 is lost and was the root of the broadcast");
}

TEST(RepairedSchedules, LoseLittleOnATorus) {
  Random random(1);
  const auto networks = break_one("torus:8x8", Loss::kCable, random);
  ASSERT_TRUE(networks);
  const Collective collective{CollectiveKind::kAllReduce, 64, 0};
  const auto old = (*find_algorithm("packed_trees"))->plan({networks->whole, collective});
  ASSERT_TRUE(old);
  const BoundCollective what{collective, std::int64_t{1} << 26};
  const auto planning = repair_plan(*old, networks->whole, networks->damaged, what, {});
  ASSERT_TRUE(planning) << planning.error().text;
  EXPECT_GE(planning->bound.time.value / to_seconds(planning->candidates[0].simulated.time).value, 0.93);
}

TEST(RepairedSchedules, RefuseWhatDoesNotTravelAlongTrees) {
  const Topology torus = *topology_from_spec("torus:4x4", {});
  const Collective collective{CollectiveKind::kAllReduce, 16, 0};
  const auto swing = (*find_algorithm("swing"))->plan({torus, collective});
  const auto refused = repair_schedule(*swing, torus);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  const auto other = repair_schedule(*swing, *topology_from_spec("torus:4x2", {}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kMismatch);
  const BoundCollective gather{{CollectiveKind::kAllGather, 16, 0}, 16};
  EXPECT_FALSE(repair_plan(*swing, torus, torus, gather, {}));
}

}  // namespace
}  // namespace hocket

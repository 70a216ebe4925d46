// Ways of messages spread over the shortest ones.
#include <gtest/gtest.h>

#include <map>

#include "algorithms/algorithm.h"
#include "planner/planner.h"
#include "planner/spread_routes.h"
#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology network(std::string_view spec) { return *topology_from_spec(spec, {}); }

Schedule planned(std::string_view algorithm, const Topology& topology, CollectiveKind kind) {
  const Collective collective{kind, topology.rank_count(), 0};
  return plan_algorithm(**find_algorithm(algorithm), {topology, collective})->schedule();
}

/// By step, the most that a link carries of it, in pieces.
std::map<std::uint32_t, std::uint32_t> most_loaded(const Schedule& schedule, const Topology& topology) {
  Router router(topology);
  std::map<std::uint32_t, std::map<LinkId, std::uint32_t>> loads;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    if (!op.sends()) continue;
    std::vector<LinkId> way;
    if (op.route == kNoRoute) {
      way = *router.route(topology.vertex_of(schedule.rank_of(id)), topology.vertex_of(op.peer), op.channel);
    } else {
      const auto stated = schedule.route(op.route);
      way.assign(stated.begin(), stated.end());
    }
    for (const LinkId link : way) loads[op.step][link] += op.count;
  }
  std::map<std::uint32_t, std::uint32_t> most;
  for (const auto& [step, links] : loads) {
    for (const auto& [link, load] : links) most[step] = std::max(most[step], load);
  }
  return most;
}

TEST(SpreadRoutes, OppositeRanksOfARingOfFourDoNotMeet) {
  const Topology ring = network("ring:4");
  const Schedule plain = planned("halving_doubling", ring, CollectiveKind::kReduceScatter);
  // 0 <-> 2 and 1 <-> 3 exchange two pieces each: by the Router's choice two of them share a link.
  EXPECT_EQ(most_loaded(plain, ring)[0], 4U);
  const Result<Schedule> spread = spread_routes(plain, ring);
  ASSERT_TRUE(spread) << spread.error().text;
  EXPECT_EQ(most_loaded(*spread, ring)[0], 2U);
  EXPECT_EQ(spread->topology(), ring.fingerprint());
}

TEST(SpreadRoutes, AreShortestAndNeverFullerThanBefore) {
  for (const char* spec : {"torus:4x4", "mesh:3x5", "torus:2x8", "fattree:4x4", "boxes:2x4", "hypercube:4"}) {
    SCOPED_TRACE(spec);
    const Result<Topology> topology = topology_from_spec(spec, {});
    ASSERT_TRUE(topology) << topology.error().text;
    for (const char* algorithm : {"direct", "recursive_doubling", "swing", "double_binary_tree", "ring"}) {
      SCOPED_TRACE(algorithm);
      const PlanRequest request{*topology, {CollectiveKind::kAllReduce, topology->rank_count(), 0}};
      if (!(*find_algorithm(algorithm))->supports(request).empty()) continue;
      const Schedule plain = planned(algorithm, *topology, CollectiveKind::kAllReduce);
      const Result<Schedule> spread = spread_routes(plain, *topology);
      ASSERT_TRUE(spread) << spread.error().text;
      Router router(*topology);
      for (OpId id = 0; id < spread->ops().size(); ++id) {
        const Op& op = spread->op(id);
        if (!op.sends()) continue;
        EXPECT_EQ(spread->route(op.route).size(),
                  router.hop_distance(topology->vertex_of(spread->rank_of(id)), topology->vertex_of(op.peer)));
      }
      EXPECT_EQ(spread->fingerprint(), plain.fingerprint());  // nothing but routes
      auto before = most_loaded(plain, *topology);
      for (const auto& [step, most] : most_loaded(*spread, *topology)) EXPECT_LE(most, before[step]) << step;
      EXPECT_TRUE(prove(*spread));
    }
  }
}

TEST(SpreadRoutes, StatedOnesStay) {
  const Topology torus = network("torus:4x4");
  const Schedule packed = planned("packed_trees", torus, CollectiveKind::kAllReduce);
  ASSERT_GT(packed.route_count(), 0U);
  const Result<Schedule> spread = spread_routes(packed, torus);
  ASSERT_TRUE(spread);
  ASSERT_EQ(spread->ops().size(), packed.ops().size());
  for (OpId id = 0; id < packed.ops().size(); ++id) EXPECT_EQ(spread->op(id).route, packed.op(id).route);
}

TEST(SpreadRoutes, PlansAreFasterByThem) {
  const Topology torus = network("torus:4x4");
  const BoundCollective what{{CollectiveKind::kAllReduce, 16, 0}, 2 << 20};
  PlanningOptions options;
  options.algorithm = "halving_doubling";
  const Result<Planning> plain = plan_collective(torus, what, options);
  options.spread = true;
  const Result<Planning> spread = plan_collective(torus, what, options);
  ASSERT_TRUE(plain && spread);
  EXPECT_LT(1.4 * to_seconds(spread->candidates[0].simulated.time).value,
            to_seconds(plain->candidates[0].simulated.time).value);
}

// Steps of a pipelined broadcast run at once: spread one by one they meet.
TEST(SpreadRoutes, PlansAreNeverSlowerByThem) {
  const Topology mesh = network("mesh:3x3");
  for (const char* algorithm : {"ring_bidirectional", "double_binary_tree", "multitree"}) {
    const BoundCollective what{{CollectiveKind::kBroadcast, 9, 0}, 1 << 20};
    PlanningOptions options;
    options.algorithm = algorithm;
    const Result<Planning> plain = plan_collective(mesh, what, options);
    options.spread = true;
    const Result<Planning> spread = plan_collective(mesh, what, options);
    ASSERT_TRUE(plain && spread) << algorithm;
    EXPECT_LE(spread->candidates[0].simulated.time, plain->candidates[0].simulated.time) << algorithm;
  }
}

}  // namespace
}  // namespace hocket

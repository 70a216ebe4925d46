#include <gtest/gtest.h>

#include <set>

#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

std::vector<VertexId> vertices_of(const Topology& t, std::span<const LinkId> path) {
  std::vector<VertexId> visited;
  for (const LinkId id : path) visited.push_back(t.link(id).to);
  return visited;
}

TEST(Router, GridsGoDimensionByDimension) {
  const Topology t = *topology_from_spec("torus:4x4", {});
  Router router(t);
  EXPECT_EQ(vertices_of(t, *router.route(0, 5, 0)), (std::vector<VertexId>{1, 5}));
  EXPECT_EQ(vertices_of(t, *router.route(5, 0, 0)), (std::vector<VertexId>{4, 0}));
  EXPECT_EQ(vertices_of(t, *router.route(0, 15, 0)), (std::vector<VertexId>{3, 15}));
  EXPECT_TRUE(router.route(3, 3, 0)->empty());
  EXPECT_FALSE(router.route(0, 16, 0).has_value());
}

TEST(Router, ParallelCablesAreSpreadByChannel) {
  const Topology t = *topology_from_spec("ring:2", {});
  Router router(t);
  EXPECT_NE(*router.route(0, 1, 0), *router.route(0, 1, 1));
  EXPECT_EQ(*router.route(0, 1, 0), *router.route(0, 1, 2));
}

TEST(Router, SwitchesSpreadByDestination) {
  const Topology t = *topology_from_spec("fattree:4x4", {});
  Router router(t);
  std::set<VertexId> spines;
  for (VertexId to = 4; to < 8; ++to) spines.insert(vertices_of(t, *router.route(0, to, 0))[1]);
  EXPECT_EQ(spines.size(), 4U);
}

TEST(Router, SwitchesForwardBeforeNpus) {
  TopologyBuilder builder("diamond");
  const VertexId a = builder.add_vertex("a", VertexKind::kNpu), b = builder.add_vertex("b", VertexKind::kNpu);
  const VertexId c = builder.add_vertex("c", VertexKind::kNpu), s = builder.add_vertex("s", VertexKind::kSwitch);
  const LinkRate rate = kDefaultLink;
  for (const VertexId middle : {b, s}) {
    builder.add_cable(a, middle, rate.bandwidth, rate.latency);
    builder.add_cable(middle, c, rate.bandwidth, rate.latency);
  }
  const Topology t = *std::move(builder).build();
  Router router(t);
  EXPECT_EQ(vertices_of(t, *router.route(a, c, 0)), (std::vector<VertexId>{s, c}));
}

TEST(Router, FastestOfUnequalParallelLinks) {
  TopologyBuilder builder("pair");
  builder.add_vertex("a", VertexKind::kNpu);
  builder.add_vertex("b", VertexKind::kNpu);
  builder.add_cable(0, 1, BytesPerSecond{1e9}, Seconds{0});
  builder.add_cable(0, 1, BytesPerSecond{2e9}, Seconds{0});
  const Topology t = *std::move(builder).build();
  Router router(t);
  for (std::uint32_t channel = 0; channel < 3; ++channel) EXPECT_EQ(router.route(0, 1, channel)->front(), 2U);
}

TEST(Router, EveryRouteIsShortestAndConnected) {
  for (const char* spec :
       {"random:20,3,1", "dragonfly:5x4x2", "boxes:3x4", "bigraph:4x4", "mesh:3x4x2", "dgx1", "hypercube:4"}) {
    const Topology t = *topology_from_spec(spec, {});
    Router router(t);
    for (const VertexId from : t.ranks()) {
      for (const VertexId to : t.ranks()) {
        const auto path = router.route(from, to, from);
        ASSERT_TRUE(path.has_value());
        ASSERT_EQ(path->size(), router.hop_distance(from, to));
        VertexId at = from;
        for (const LinkId id : *path) {
          ASSERT_EQ(t.link(id).from, at);
          at = t.link(id).to;
        }
        ASSERT_EQ(at, to);
      }
    }
  }
}

TEST(LatencyDistances, FollowDirections) {
  const Topology t = *topology_from_spec("line:4", {.links = {LinkRate{BytesPerSecond{1e9}, Seconds{1e-6}}}});
  EXPECT_DOUBLE_EQ(latency_distances(t, 0, true)[3], 3e-6);
  EXPECT_DOUBLE_EQ(latency_distances(t, 2, false)[0], 2e-6);
}

}  // namespace
}  // namespace hocket

// Shortest trees: that every rank hangs on a way of least latency, that ties share the links, and which ranks are in
// the middle.
#include "algorithms/parts/shortest_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology make(std::string_view spec, const TopologyOptions& options = {}) {
  return *apply_changes(*topology_from_spec(spec, options), options);
}

/// Latency from the root (or to it) along the tree, by rank; checks that links join what the edges say.
std::vector<double> latencies(const Topology& t, const Trees& trees, std::uint32_t tree, bool reversed) {
  std::vector<double> latency(t.rank_count(), 0);
  for (const TreeEdge& edge : trees.edges) {
    if (edge.tree != tree) continue;
    VertexId at = t.vertex_of(reversed ? edge.child : edge.parent);
    latency[edge.child] = latency[edge.parent];
    for (std::uint32_t i = 0; i < edge.link_count; ++i) {
      const Link& link = t.link(trees.links[edge.first_link + i]);
      EXPECT_EQ(link.from, at);
      at = link.to;
      latency[edge.child] += link.latency.value;
    }
    EXPECT_EQ(at, t.vertex_of(reversed ? edge.parent : edge.child));
  }
  return latency;
}

TEST(ShortestTrees, ReachEveryRankWithTheLeastLatency) {
  const TopologyOptions damaged{.links = {*parse_link_rate("1GB/s,1us"), *parse_link_rate("1GB/s,300ns")},
                                .breaks = {"1-2"}};
  for (const auto& [spec, options] : std::vector<std::pair<std::string, TopologyOptions>>{
           {"mesh:3x5", {}}, {"random:24,3,7", {}}, {"boxes:3x4", {}}, {"fattree:3x4x2", {}}, {"torus:4x4", damaged}}) {
    const Topology t = make(spec, options);
    for (const bool reversed : {false, true}) {
      std::vector<std::uint32_t> roots(t.rank_count());
      std::iota(roots.begin(), roots.end(), 0U);
      const auto trees = shortest_trees(t, roots, reversed);
      ASSERT_TRUE(trees) << spec;
      EXPECT_EQ(trees->edges.size(), std::size_t{t.rank_count()} * (t.rank_count() - 1));
      for (const std::uint32_t root : roots) {
        const std::vector<double> own = latencies(t, *trees, root, reversed);
        const std::vector<double> least = latency_distances(t, t.vertex_of(root), !reversed);
        for (std::uint32_t rank = 0; rank < t.rank_count(); ++rank) {
          EXPECT_NEAR(own[rank], least[t.vertex_of(rank)], 1e-13) << spec << ' ' << root << ' ' << rank;
        }
      }
    }
  }
}

// A mesh of 2x2: from 0 there are two ways to 3; the second tree takes the one that the first left.
TEST(ShortestTrees, ShareTheLinksWherePathsTie) {
  const Topology t = make("mesh:2x2");
  const std::vector<std::uint32_t> roots{0, 0};
  const auto trees = shortest_trees(t, roots, false);
  ASSERT_TRUE(trees);
  std::map<std::uint32_t, std::uint32_t> parent_of_3;
  for (const TreeEdge& edge : trees->edges) {
    if (edge.child == 3) parent_of_3[edge.tree] = edge.parent;
  }
  EXPECT_NE(parent_of_3[0], parent_of_3[1]);
}

TEST(CentralRanks, AreThoseFromWhichTheFarthestIsNearest) {
  EXPECT_EQ(central_ranks(make("line:5"), 8), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(central_ranks(make("line:6"), 8), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(central_ranks(make("mesh:3x4"), 8), (std::vector<std::uint32_t>{4, 7}));
  EXPECT_EQ(central_ranks(make("ring:8"), 4), (std::vector<std::uint32_t>{0, 2, 4, 6}));
}

}  // namespace
}  // namespace hocket

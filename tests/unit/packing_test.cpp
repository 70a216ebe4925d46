// Tree packings: every tree spans, loads are what they say, cables are shared as evenly as the strength of the graph
// allows, and trees stay low.
#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/packing/cables.h"
#include "algorithms/packing/rehanger.h"
#include "algorithms/packing/rooted_packing.h"
#include "algorithms/parts/forest.h"
#include "bounds/bounds.h"
#include "support/small_graphs.h"
#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology make(std::string_view spec, const TopologyOptions& options = {}) {
  auto topology = topology_from_spec(spec, options);
  EXPECT_TRUE(topology) << (topology ? "" : topology.error().text);
  return topology ? *apply_changes(*std::move(topology), options) : *topology_from_spec("ring:2", {});
}

/// Checks that every tree spans the graph with its own cables; returns the largest load per capacity.
double check_packing(const CableGraph& graph, const SpanningPacking& packing) {
  std::vector<double> load(graph.cables.size(), 0);
  for (const PackedTree& tree : packing.trees) {
    EXPECT_EQ(tree.order.size(), graph.vertex_count);
    EXPECT_EQ(tree.order.front(), tree.root);
    std::vector<bool> seen(graph.vertex_count, false);
    for (const std::uint32_t v : tree.order) {
      EXPECT_FALSE(seen[v]);
      seen[v] = true;
      if (v == tree.root) continue;
      const CableGraph::Cable& cable = graph.cables[tree.cable[v]];
      EXPECT_TRUE(seen[tree.parent[v]]);
      EXPECT_TRUE((cable.a == v && cable.b == tree.parent[v]) || (cable.b == v && cable.a == tree.parent[v]));
      EXPECT_EQ(tree.depth[v], tree.depth[tree.parent[v]] + 1);
      ++load[tree.cable[v]];
    }
    EXPECT_EQ(tree.height, tree.depth[tree.order.back()]);
  }
  double most = 0;
  for (std::size_t c = 0; c < load.size(); ++c) most = std::max(most, load[c] / graph.cables[c].capacity);
  return most;
}

double strength_time(const Topology& t) {
  const BoundCollective what{{CollectiveKind::kAllReduce, t.rank_count(), 0}, std::int64_t{1} << 30, DataType::kI8};
  return lower_bound(t, what).bandwidth.value / static_cast<double>(what.count);
}

TEST(SpanningPacking, ReachesTheStrengthOfKnownNetworks) {
  const struct {
    const char* spec;
    double share;  // of the strength
  } cases[] = {{"line:3", 1},          {"ring:4", 1},        {"full:4", 1},      {"mesh:2x3", 1},
               {"mesh:2x4", 1},        {"mesh:3x3", 1},      {"dgx1", 0.98},     {"mesh:8x8", 0.97},
               {"torus:8x8", 0.97},    {"mesh:4x4x4", 0.97}, {"hypercube:3", 1}, {"mesh:16x16", 0.96},
               {"random:64,4,1", 0.97}};
  for (const auto& c : cases) {
    const Topology t = make(c.spec);
    const Cables cables = pair_links(t);
    const SpanningPacking packing = pack_spanning_trees(cables.graph);
    const double load = check_packing(cables.graph, packing);
    EXPECT_NEAR(load, packing.load, load * 1e-9) << c.spec;
    const double share = strength_time(t) / (load / static_cast<double>(packing.trees.size()));
    EXPECT_GE(share, c.share - 0.01) << c.spec;
    EXPECT_LE(share, 1 + 1e-9) << c.spec;
  }
}

TEST(SpanningPacking, OfRandomNetworksIsNeverBetterThanTheBoundAndRarelyFar) {
  double sum = 0;
  constexpr int kNetworks = 150;
  for (std::uint64_t seed = 0; seed < kNetworks; ++seed) {
    Random random(seed);
    const Topology t = random_small_graph(2 + static_cast<std::uint32_t>(random.below(9)), 0, true, seed);
    const Cables cables = pair_links(t);
    const SpanningPacking packing = pack_spanning_trees(cables.graph);
    const double time = check_packing(cables.graph, packing) / static_cast<double>(packing.trees.size());
    const double share = strength_time(t) / time;
    EXPECT_LE(share, 1 + 1e-9) << "seed " << seed;
    EXPECT_GE(share, 0.9) << "seed " << seed;
    sum += share;
  }
  EXPECT_GE(sum / kNetworks, 0.985);
}

TEST(SpanningPacking, TreesAreLow) {
  for (const char* spec : {"torus:8x8", "mesh:8x8", "torus:16x16", "mesh:16x16", "hypercube:6", "random:64,4,1"}) {
    const Topology t = make(spec);
    const SpanningPacking packing = pack_spanning_trees(pair_links(t).graph);
    Router router(t);
    for (const PackedTree& tree : packing.trees) {
      std::uint32_t eccentricity = 0;
      for (VertexId v = 0; v < t.vertices().size(); ++v) {
        eccentricity = std::max(eccentricity, router.hop_distance(v, tree.root));
      }
      EXPECT_LE(tree.height, 2 * eccentricity + 2) << spec;
    }
  }
}

TEST(SpanningPacking, UnequalRatesOfAThousandToOne) {
  const Topology t = small_graph(4, 0, {{0, 1, 1000, 1000}, {1, 2, 1, 1}, {2, 3, 1000, 1000}, {3, 0, 1, 1}});
  const Cables cables = pair_links(t);
  const SpanningPacking packing = pack_spanning_trees(cables.graph);
  const double time = check_packing(cables.graph, packing) / static_cast<double>(packing.trees.size());
  EXPECT_NEAR(strength_time(t) / time, 1, 0.01);
}

TEST(Cables, PairTheLinksOfBothDirections) {
  const Topology t = small_graph(3, 0, {{0, 1, 2, 1}, {0, 1, 3, 3}, {1, 2, 1, 0}, {2, 1, 5, 0}});
  const Cables cables = pair_links(t);
  ASSERT_EQ(cables.graph.cables.size(), 3U);
  std::vector<double> rates;
  for (const CableGraph::Cable& cable : cables.graph.cables) rates.push_back(cable.capacity / 1e9);
  EXPECT_EQ(rates, (std::vector<double>{3, 1, 1}));  // the fastest with the fastest; the slower of two counts
  EXPECT_TRUE(cables_connect(t));
  EXPECT_FALSE(cables_connect(small_graph(3, 0, {{0, 1, 1, 0}, {1, 2, 1, 0}, {2, 0, 1, 0}})));
}

/// Every tree spans all ranks over links that join parent and child; returns the largest load per bandwidth.
double check_trees(const Topology& t, const Trees& trees, bool reversed) {
  std::vector<double> load(t.links().size(), 0);
  std::vector<std::uint32_t> edges(trees.count, 0);
  for (const TreeEdge& edge : trees.edges) {
    ++edges[edge.tree];
    VertexId at = t.vertex_of(reversed ? edge.child : edge.parent);
    for (std::uint32_t i = 0; i < edge.link_count; ++i) {
      const LinkId id = trees.links[edge.first_link + i];
      EXPECT_EQ(t.link(id).from, at);
      at = t.link(id).to;
      ++load[id];
    }
    EXPECT_EQ(at, t.vertex_of(reversed ? edge.parent : edge.child));
  }
  for (const std::uint32_t count : edges) EXPECT_EQ(count, t.rank_count() - 1);
  double most = 0;
  for (LinkId id = 0; id < load.size(); ++id) most = std::max(most, load[id] / t.link(id).bandwidth.value);
  return most;
}

TEST(Rehanger, LowersTheLargestLoadAndKeepsTheTrees) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const auto npus = 3 + static_cast<std::uint32_t>(random.below(6));
    const auto switches = static_cast<std::uint32_t>(random.below(3));
    const Topology t = random_small_graph(npus, switches, random.chance(0.5), seed);
    std::vector<std::uint32_t> roots(npus);
    std::iota(roots.begin(), roots.end(), 0U);
    for (const bool reversed : {false, true}) {
      const auto forest = grow_forest(t, roots, reversed);
      ASSERT_TRUE(forest) << forest.error().text;
      Rehanger rehanger(t, forest->trees, roots, reversed ? Rehanger::Travel::kUp : Rehanger::Travel::kDown);
      const double before = rehanger.most_loaded();
      EXPECT_NEAR(check_trees(t, forest->trees, reversed), before, before * 1e-9);
      rehanger.even_out(0);
      EXPECT_LE(rehanger.most_loaded(), before);
      EXPECT_NEAR(check_trees(t, rehanger.take_trees(), reversed), rehanger.most_loaded(), before * 1e-9);
    }
  }
}

TEST(RootedPacking, ReachesTheCutBound) {
  TopologyOptions two_rates;
  two_rates.links = {*parse_link_rate("100GB/s,1us"), *parse_link_rate("50GB/s,1us")};
  for (const char* spec :
       {"torus:4x4", "torus:8x8", "mesh:4x4", "dgx1", "hypercube:4", "fattree:4x4x2", "bigraph:4x4"}) {
    const Topology t = make(spec, two_rates);
    std::vector<std::uint32_t> roots(t.rank_count());
    std::iota(roots.begin(), roots.end(), 0U);
    const auto packing = pack_rooted_trees(t, roots, false);
    ASSERT_TRUE(packing) << packing.error().text;
    const double time = check_trees(t, packing->trees, false) / packing->trees_per_root;
    EXPECT_NEAR(time, packing->time_per_byte, time * 1e-9);
    const BoundCollective what{{CollectiveKind::kAllGather, t.rank_count(), 0}, std::int64_t{t.rank_count()} << 24};
    const double bound = lower_bound(t, what).bandwidth.value / static_cast<double>(what.bytes().count);
    EXPECT_GE(bound * t.rank_count() / time, 0.97) << spec;
    EXPECT_LE(bound * t.rank_count() / time, 1 + 1e-9) << spec;
  }
}

}  // namespace
}  // namespace hocket

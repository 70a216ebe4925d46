// Translations and shifted trees: which networks have the symmetry, that shifted trees span, stay as low as can be, and
// load all links as evenly as their numbers allow.
#include "algorithms/packing/shifted_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology make(std::string_view spec, const TopologyOptions& options = {}) {
  return *apply_changes(*topology_from_spec(spec, options), options);
}

TEST(Translations, AreFoundWhereEveryShiftIsASymmetry) {
  for (const char* spec : {"ring:5", "torus:4x4", "torus:2x3x4", "hypercube:5", "full:7"}) {
    const Topology t = make(spec);
    const auto translations = Translations::of(t);
    ASSERT_TRUE(translations) << spec;
    for (std::uint32_t v = 0; v < translations->vertices(); ++v) {
      EXPECT_EQ(translations->sum(v, translations->negative(v)), 0U);
      for (std::uint32_t c = 0; c < translations->classes(); ++c) {
        const Link& link = t.link(translations->link(v, c));
        EXPECT_EQ(link.from, v);
        EXPECT_EQ(link.to, translations->head(v, c));
        EXPECT_EQ(translations->tail(link.to, c), v);
        EXPECT_EQ(translations->head(link.to, translations->twin(c)), v);
      }
    }
  }
}

TEST(Translations, AreNotFoundElsewhere) {
  for (const char* spec : {"mesh:4x4", "line:5", "dgx1", "switch:8", "fattree:4x4x2", "boxes:2x4", "random:16,4,1"}) {
    EXPECT_FALSE(Translations::of(make(spec))) << spec;
  }
  EXPECT_FALSE(Translations::of(make("torus:4x4", {.breaks = {"0-1"}})));
  EXPECT_FALSE(Translations::of(make("torus:4x4", {.breaks = {"5"}})));
  EXPECT_FALSE(Translations::of(make("torus:4x4", {.scales = {"5-6=0.5"}})));
  EXPECT_FALSE(Translations::of(make("ring:8", {.group = "3,2,1,0,4,5,6,7"})));
}

/// Loads per link of trees with one byte per root, after checking that each tree spans in shortest ways.
std::vector<double> check_rooted(const Topology& t, const RootedPacking& packing, bool reversed) {
  std::vector<double> load(t.links().size(), 0);
  Router router(t);
  std::map<std::uint32_t, std::set<std::uint32_t>> reached;
  for (const TreeEdge& edge : packing.trees.edges) {
    const std::uint32_t root = edge.tree / packing.trees_per_root;
    EXPECT_TRUE(reached[edge.tree].insert(edge.child).second);
    EXPECT_EQ(edge.step + 1, router.hop_distance(root, edge.child));
    EXPECT_TRUE(edge.parent == root || reached[edge.tree].contains(edge.parent));
    const LinkId id = packing.trees.links[edge.first_link];
    EXPECT_EQ(edge.link_count, 1U);
    EXPECT_EQ(t.link(id).from, reversed ? edge.child : edge.parent);
    EXPECT_EQ(t.link(id).to, reversed ? edge.parent : edge.child);
    load[id] += 1.0 / packing.trees_per_root;
  }
  EXPECT_EQ(reached.size(), packing.trees.count);
  for (const auto& [tree, ranks] : reached) EXPECT_EQ(ranks.size(), t.rank_count() - 1) << tree;
  return load;
}

TEST(ShiftedRoots, LoadEveryLinkInProportionToItsRate) {
  const TopologyOptions two_rates{.links = {*parse_link_rate("100GB/s"), *parse_link_rate("50GB/s")}};
  const Topology networks[] = {make("ring:6"),      make("torus:4x4"),   make("torus:5x3"),
                               make("hypercube:4"), make("torus:2x4x3"), make("torus:8x4", two_rates)};
  for (const Topology& t : networks) {
    for (const bool reversed : {false, true}) {
      const auto packing = pack_shifted_roots(*Translations::of(t), reversed);
      ASSERT_TRUE(packing) << t.name();
      const std::vector<double> load = check_rooted(t, *packing, reversed);
      double most = 0, into = 0;
      for (LinkId id = 0; id < load.size(); ++id) most = std::max(most, load[id] / t.link(id).bandwidth.value);
      for (const LinkId id : t.incoming(0)) into += t.link(id).bandwidth.value;
      EXPECT_NEAR(most, packing->time_per_byte, most * 1e-9);
      EXPECT_LE(most, 1.02 * (t.rank_count() - 1) / into) << t.name();
    }
  }
}

TEST(ShiftedCables, AreSharedEvenlyByFewLowTrees) {
  for (const auto& [spec, height, trees_max] :
       {std::tuple{"torus:16x16", 16U, 8U}, std::tuple{"torus:6x6x6", 9U, 36U}, std::tuple{"ring:64", 32U, 64U}}) {
    const Topology t = make(spec);
    const Cables cables = pair_links(t);
    const auto shifted = pack_shifted_cables(*Translations::of(t), cables);
    ASSERT_TRUE(shifted) << spec;
    EXPECT_LE(shifted->unevenness, 1.02) << spec;
    EXPECT_LE(shifted->packing.trees.size(), trees_max) << spec;
    std::vector<double> load(cables.graph.cables.size(), 0);
    for (const PackedTree& tree : shifted->packing.trees) {
      EXPECT_EQ(tree.height, height) << spec;
      EXPECT_EQ(tree.order.size(), t.rank_count());
      for (const std::uint32_t v : tree.order) {
        if (v == tree.root) continue;
        const CableGraph::Cable& cable = cables.graph.cables[tree.cable[v]];
        EXPECT_EQ(cable.a ^ cable.b ^ v, tree.parent[v]);
        EXPECT_EQ(tree.depth[v], tree.depth[tree.parent[v]] + 1);
        load[tree.cable[v]] += 1 / cable.capacity;
      }
    }
    EXPECT_NEAR(*std::max_element(load.begin(), load.end()), shifted->packing.load, 1e-9 * shifted->packing.load);
  }
}

}  // namespace
}  // namespace hocket

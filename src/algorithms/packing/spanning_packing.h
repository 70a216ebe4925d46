// Spanning tree packing: a number of spanning trees of an undirected graph that share its cables evenly.
// The trees are grown one by one (Prim) over prices that rise with the load of a cable and with the depth of the vertex
// it hangs on; then the most loaded cables are relieved by augmenting exchanges between trees, as in matroid union:
// cable x leaves a tree, f takes its place there, f leaves another tree, and so on to a cable that has room. When a
// search ends without one, no packing of that many trees is more even. At last the tallest trees are shortened within
// that load. Deterministic. Threading: pure functions. Refuses: nothing; the graph must be connected and capacities
// positive (a Topology's are).
#pragma once

#include <cstdint>
#include <vector>

namespace hocket {

struct CableGraph {
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    double capacity = 0;
  };
  std::uint32_t vertex_count = 0;
  std::vector<Cable> cables;
};

/// A tree as its vertices see it; the root's parent is itself.
struct PackedTree {
  std::uint32_t root = 0;
  std::uint32_t height = 0;
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> cable;  // to the parent
  std::vector<std::uint32_t> depth;  // cables to the root
  std::vector<std::uint32_t> order;  // by depth, the root first
};

struct SpanningPacking {
  std::vector<PackedTree> trees;  // equal shares
  double load = 0;                // largest number of trees on a cable per capacity: time = load / trees
};

/// `count` trees, each rooted at its own centre.
[[nodiscard]] SpanningPacking pack_spanning_trees(const CableGraph& graph, std::uint32_t count);

/// Trees of which some lost cables: each gets what joins it again, then the load is evened out. `kept`: cables per
/// tree.
[[nodiscard]] SpanningPacking mend_spanning_trees(const CableGraph& graph,
                                                  const std::vector<std::vector<std::uint32_t>>& kept);

/// The number of trees among a few that shares the cables most evenly (fewer win when within half a percent).
[[nodiscard]] SpanningPacking pack_spanning_trees(const CableGraph& graph);

}  // namespace hocket

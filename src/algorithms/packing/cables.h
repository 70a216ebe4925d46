// Cables: links of a direct network in pairs, one each way, as the graph in which spanning trees are packed.
// The i-th fastest link from a to b is paired with the i-th fastest from b to a; the slower one gives the rate, a link
// without a partner is left out. Vertices of the graph are ranks.
// Threading: pure functions. Refuses: nothing; every vertex must be a rank.
#pragma once

#include <vector>

#include "algorithms/packing/spanning_packing.h"
#include "algorithms/parts/trees.h"
#include "topology/topology.h"

namespace hocket {

struct Cables {
  CableGraph graph;
  std::vector<LinkId> from_a;  // per cable: the link from its end a to b
  std::vector<LinkId> from_b;
};

[[nodiscard]] Cables pair_links(const Topology& topology);

/// Whether the paired links alone join all ranks.
[[nodiscard]] bool cables_connect(const Topology& topology);

/// The packing's trees with their links, in the direction from child to parent (`up`) or from parent to child.
[[nodiscard]] Trees trees_of(const SpanningPacking& packing, const Cables& cables, bool up);

}  // namespace hocket

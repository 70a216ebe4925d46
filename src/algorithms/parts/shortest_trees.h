// Shortest trees: trees in which every rank is reached over a path of least latency from the root, and of those over
// the one with the fewest links. Where several paths are as short, the link that has least to carry for its rate is
// taken, all trees together, so that the trees share the links. Sources: Dijkstra 1959; the choice of parents is ours.
// Threading: pure functions. Refuses: a root that cannot reach every rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/parts/trees.h"
#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

/// One tree per root. With `reversed` data travel to the roots.
[[nodiscard]] Result<Trees> shortest_trees(const Topology& topology, std::span<const std::uint32_t> roots,
                                           bool reversed);

/// Up to `count` ranks from which the ways to the farthest rank and back are shortest, all equally short; on networks
/// of many ranks the best of some of them.
[[nodiscard]] std::vector<std::uint32_t> central_ranks(const Topology& topology, std::uint32_t count);

}  // namespace hocket

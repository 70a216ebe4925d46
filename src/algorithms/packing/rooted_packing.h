// Rooted packing: trees for given roots over links of any rates, switches included, that even out the load of the
// links. MultiTree's forest is grown with several trees per root, so that their number divides evenly, and the Rehanger
// evens out what the forest's time steps left uneven. The number of trees per root is the one of a few that does best.
// Threading: pure functions. Refuses: roots of which some cannot reach every rank.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/parts/trees.h"
#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

struct RootedPacking {
  Trees trees;  // tree root * per_root + j belongs to roots[root]
  std::uint32_t trees_per_root = 1;
  double time_per_byte = 0;  // most loaded link, when every root has one byte
};

/// With `reversed` data travel to the roots. `per_root` 0: the best number of trees per root.
[[nodiscard]] Result<RootedPacking> pack_rooted_trees(const Topology& topology, std::span<const std::uint32_t> roots,
                                                      bool reversed, std::uint32_t per_root = 0);

}  // namespace hocket

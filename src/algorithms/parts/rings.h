// Rings: the trees of ring algorithms, and one ring phase over a group of ranks.
// Threading: pure functions. Refuses: nothing.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/parts/transfers.h"
#include "algorithms/parts/trees.h"

namespace hocket {

/// Chains along a cycle of ranks. One chain for each rank as root, or one for the collective's root.
struct RingTrees {
  Trees up;
  Trees down;
};

/// Data travel from order[i] to order[i + 1] in both phases.
[[nodiscard]] RingTrees ring_trees(const Collective& collective, std::span<const std::uint32_t> order);

}  // namespace hocket

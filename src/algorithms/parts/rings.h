// Rings: the trees of ring algorithms, and the steps of one ring over a group of ranks.
// Threading: pure functions. Refuses: nothing.
// Ownership: plain values, borrowed for the call. Threading: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "algorithms/parts/transfers.h"
#include "algorithms/parts/trees.h"

namespace hocket {

/// Chains along cycles of ranks.
struct RingTrees {
  Trees up;
  Trees down;
};

/// One chain for each rank as root (or one for the collective's root) and each cycle: tree = root * cycles + cycle.
/// On cycle c data travel from cycles[c][i] to cycles[c][i + 1] in both phases.
[[nodiscard]] RingTrees ring_trees(const Collective& collective, std::span<const std::vector<std::uint32_t>> cycles);

/// Ranks that pass the chunks of a vector around; chunk i ends at members[i] or starts there.
struct GroupRing {
  std::vector<std::uint32_t> members;
  std::function<std::vector<Run>(std::uint32_t chunk)> chunk;
};

/// Step `step` (0 .. members - 2) of the reduce-scatter: every member sends one chunk to its successor, which adds it.
void ring_reduce_step(Transfers& transfers, const GroupRing& ring, std::uint32_t step, OpOptions options);
/// Step `step` of the all-gather.
void ring_gather_step(Transfers& transfers, const GroupRing& ring, std::uint32_t step, OpOptions options);

}  // namespace hocket

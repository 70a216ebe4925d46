#include "algorithms/parts/rings.h"

#include <algorithm>

namespace hocket {
namespace {

/// Tree `tree` with its root at position `at`: data leave the root along the ring in `down` and reach it so in `up`.
void add_chains(RingTrees& rings, std::uint32_t tree, std::span<const std::uint32_t> order, std::size_t at) {
  const std::size_t n = order.size();
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const auto step = static_cast<std::uint32_t>(i);
    rings.down.add(tree, order[(at + i) % n], order[(at + i + 1) % n], step);
    rings.up.add(tree, order[(at + n - i) % n], order[(at + n - i - 1) % n], step);
  }
}

}  // namespace

RingTrees ring_trees(const Collective& collective, std::span<const std::vector<std::uint32_t>> cycles) {
  RingTrees rings;
  for (std::uint32_t c = 0; c < cycles.size(); ++c) {
    const std::vector<std::uint32_t>& order = cycles[c];
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::uint32_t rank = order[at];
      if (is_rooted(collective.kind) && rank != collective.root) continue;
      const std::uint32_t first = is_rooted(collective.kind) ? 0 : rank * static_cast<std::uint32_t>(cycles.size());
      add_chains(rings, first + c, order, at);
    }
  }
  return rings;
}

void ring_reduce_step(Transfers& transfers, const GroupRing& ring, std::uint32_t step, OpOptions options) {
  const auto n = static_cast<std::uint32_t>(ring.members.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const Run run : ring.chunk((i + 2 * n - 1 - step) % n)) {
      transfers.reduce(ring.members[i], ring.members[(i + 1) % n], run, options);
    }
  }
}

void ring_gather_step(Transfers& transfers, const GroupRing& ring, std::uint32_t step, OpOptions options) {
  const auto n = static_cast<std::uint32_t>(ring.members.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const Run run : ring.chunk((i + n - step) % n)) {
      transfers.copy(ring.members[i], ring.members[(i + 1) % n], run, options);
    }
  }
}

}  // namespace hocket

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

RingTrees ring_trees(const Collective& collective, std::span<const std::uint32_t> order) {
  RingTrees rings;
  const auto position = [&](std::uint32_t rank) {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
  };
  if (is_rooted(collective.kind)) {
    add_chains(rings, 0, order, position(collective.root));
    return rings;
  }
  std::vector<std::size_t> positions(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) positions[order[i]] = i;
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) add_chains(rings, rank, order, positions[rank]);
  return rings;
}

}  // namespace hocket

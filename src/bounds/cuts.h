// The cuts that limit a collective: exact searches by maximum flow. Every cut returned is measured again on the network
// itself, so that a rounded flow can make a bound weaker, never wrong.
// Above kFlowWorkMax (sinks times arcs) only some sinks, spread evenly, are searched; the result stays a valid bound.
// Ownership: plain values. Threading: pure functions. Refuses: nothing; fewer than two ranks give an empty cut.
#pragma once

#include <cstdint>
#include <vector>

#include "bounds/network.h"

namespace hocket {

inline constexpr std::uint64_t kFlowWorkMax = std::uint64_t{1} << 26;

struct Cut {
  std::vector<bool> side;  // by vertex: true where data start
  double capacity = 0;     // bytes per second leaving that side
  std::uint32_t links = 0;
  std::uint32_t ranks = 0;  // ranks on that side
  [[nodiscard]] bool empty() const { return ranks == 0; }
};

/// Measures the capacity leaving `side`.
[[nodiscard]] Cut measure_cut(const FlowNetwork& network, std::vector<bool> side);

/// The side that misses a rank and has the largest (ranks inside) / (capacity leaving): what limits all-gather.
[[nodiscard]] Cut worst_gather_cut(const FlowNetwork& network);

/// The smallest cut between `root` and any other rank: what limits broadcast.
[[nodiscard]] Cut smallest_root_cut(const FlowNetwork& network, VertexId root);

/// The smallest cut that has ranks on both sides, in either direction.
[[nodiscard]] Cut smallest_cut(const FlowNetwork& network);

}  // namespace hocket

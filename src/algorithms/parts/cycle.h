// Rings: the order of ranks on a cycle of the topology, and the ring program on it.
// Ownership: plain values. Threading: pure functions.
// Refuses: nothing; where no cycle of neighbours is found the ranks are taken in their own order.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket {

/// Ranks along a Hamiltonian cycle of direct links: by construction on grids with an even side (boustrophedon) and
/// rings, otherwise by a bounded search; rank order when there is none or the search gives up.
[[nodiscard]] std::vector<std::uint32_t> cycle_order(const Topology& topology);

struct RingPart {
  const std::vector<std::uint32_t>& order;
  std::uint32_t first_piece = 0;  // piece of the rank at position i is first_piece + stride * order[i]
  std::uint32_t stride = 1;
  std::uint16_t channel = 0;
  bool forward = true;
};

/// Adds one ring of an all-reduce, reduce-scatter or all-gather.
void add_ring(ScheduleBuilder& builder, const RingPart& part);

/// Broadcast or reduce as a pipeline along the order, starting or ending at the root: one op per hop, all pieces.
[[nodiscard]] Result<Schedule> plan_chain(const Collective& collective, const std::vector<std::uint32_t>& order,
                                          std::string name);

}  // namespace hocket

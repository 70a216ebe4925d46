// Hamilton: an order of the ranks in which each is joined to the next by a direct link and the last to the first.
// Grids with an even side, tori and hypercubes by construction; elsewhere by a bounded search; otherwise rank order,
// in which neighbours on the ring may be several links apart. Deterministic. Threading: pure. Refuses: nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace hocket {

struct RingOrder {
  std::vector<std::uint32_t> ranks;
  bool direct = false;  // every hop is a link, in both directions
};

[[nodiscard]] RingOrder ring_order(const Topology& topology);

}  // namespace hocket

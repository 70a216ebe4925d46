// Bounds from link lengths, for networks whose switches and idle npus only forward (no copy, no reduction in them).
// Give every pair of joined vertices a length y >= 0. A message between ranks at distance d uses links of total length
// d or more; all links together carry at most W = sum(capacity y) per second. Hence, for every y,
//   all-reduce: time >= 2 D MST_y / W, MST_y the smallest spanning tree of the ranks by distance: for every r messages
//     longer than r join the groups of ranks at distance <= r, 2 (groups - 1) D bytes; integrate over r.
//   all-to-all: time >= (D/N) sum of all distances / W.
// Natural y are tried, then improved by multiplicative weights. The best y is exact on symmetric networks (duality).
// Threading: pure functions. Refuses: nothing; fewer than two ranks give an empty result.
#pragma once

#include <string>
#include <vector>

#include "bounds/network.h"

namespace hocket {

struct Lengths {
  std::vector<double> length;  // by pair of the network
  double time_per_byte = 0;
  std::string description;  // "length 1 on npu-switch links of 16 GB/s"
};

[[nodiscard]] Lengths best_tree_lengths(const FlowNetwork& network);
[[nodiscard]] Lengths best_distance_lengths(const FlowNetwork& network);

}  // namespace hocket

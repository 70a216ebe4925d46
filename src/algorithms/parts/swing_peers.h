// SwingPeers: who meets whom in Swing, on a grid whose extents are powers of two.
// In step s along a ring even ranks go r(s) = 1, -1, 3, -5, 11 ... (sums of powers of -2) further, odd ones as far
// back. There are two parts per dimension: each begins with another dimension, the second half goes the other way
// around. Threading: immutable value. Refuses (supports()): other grids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/parts/exchange.h"
#include "algorithms/parts/grid.h"

namespace hocket {

class SwingPeers {
 public:
  explicit SwingPeers(const Topology& topology);

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(turns_.size()); }
  [[nodiscard]] std::uint32_t steps() const { return static_cast<std::uint32_t>(turns_.front().size()); }
  [[nodiscard]] std::uint32_t peer(std::uint32_t rank, std::uint32_t part, std::uint32_t step) const;

  /// Empty when Swing can do it: all-reduce on a grid of powers of two.
  [[nodiscard]] static std::string supports(const PlanRequest& request);

 private:
  RankGrid grid_;
  std::vector<std::vector<DimensionStep>> turns_;  // by part and step
};

}  // namespace hocket

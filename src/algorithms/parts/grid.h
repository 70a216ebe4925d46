// RankGrid: the ranks as cells of the topology's extents, dimension 0 fastest, without the dimensions of extent 1.
// Threading: immutable value. Refuses: topologies whose extents do not multiply to the ranks (no dimensions then).
// Ownership: plain values, borrowed for the call. Threading: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace hocket {

class RankGrid {
 public:
  explicit RankGrid(const Topology& topology);

  [[nodiscard]] std::uint32_t dimensions() const { return static_cast<std::uint32_t>(extents_.size()); }
  [[nodiscard]] std::uint32_t extent(std::uint32_t dimension) const { return extents_[dimension]; }
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
    return rank / strides_[dimension] % extents_[dimension];
  }
  [[nodiscard]] std::uint32_t stride(std::uint32_t dimension) const { return strides_[dimension]; }
  /// The ranks that differ from `rank` in this dimension only, by coordinate.
  [[nodiscard]] std::vector<std::uint32_t> line(std::uint32_t rank, std::uint32_t dimension) const;

 private:
  std::vector<std::uint32_t> extents_;
  std::vector<std::uint32_t> strides_;
};

}  // namespace hocket

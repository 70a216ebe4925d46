#include "algorithms/parts/grid.h"

namespace hocket {

RankGrid::RankGrid(const Topology& topology) {
  std::uint64_t cells = 1;
  for (const std::uint32_t extent : topology.extents()) {
    if (extent > 1) {
      extents_.push_back(extent);
      strides_.push_back(static_cast<std::uint32_t>(cells));
    }
    cells *= extent;
  }
  if (cells == topology.rank_count()) return;
  extents_.clear();
  strides_.clear();
}

std::vector<std::uint32_t> RankGrid::line(std::uint32_t rank, std::uint32_t dimension) const {
  std::vector<std::uint32_t> ranks;
  const std::uint32_t first = rank - coordinate(rank, dimension) * strides_[dimension];
  for (std::uint32_t i = 0; i < extents_[dimension]; ++i) ranks.push_back(first + i * strides_[dimension]);
  return ranks;
}

}  // namespace hocket

#include "algorithms/parts/swing_peers.h"

#include <bit>

namespace hocket {

SwingPeers::SwingPeers(const Topology& topology) : grid_(topology) {
  std::vector<std::uint32_t> steps;
  for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
    steps.push_back(static_cast<std::uint32_t>(std::bit_width(grid_.extent(d)) - 1));
  }
  for (std::uint32_t part = 0; part < 2 * grid_.dimensions(); ++part) {
    turns_.push_back(take_turns(steps, part % grid_.dimensions()));
  }
}

std::uint32_t SwingPeers::peer(std::uint32_t rank, std::uint32_t part, std::uint32_t step) const {
  const DimensionStep turn = turns_[part][step];
  const std::uint32_t extent = grid_.extent(turn.dimension);
  const std::uint32_t at = grid_.coordinate(rank, turn.dimension);
  const std::int64_t distance = (1 - (std::int64_t{-2} << turn.step) * (turn.step % 2 == 0 ? 1 : -1)) / 3;
  const bool forward = (at % 2 == 0) == (part < grid_.dimensions());
  const std::int64_t target = static_cast<std::int64_t>(at) + (forward ? distance : -distance);
  const auto wrapped = static_cast<std::uint32_t>((target % extent + extent) % extent);
  return rank + (wrapped - at) * grid_.stride(turn.dimension);
}

std::string SwingPeers::supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce) {
    return fmt::format("it does not do {}", name_of(request.collective.kind));
  }
  const RankGrid grid(request.topology);
  if (grid.dimensions() == 0) return "it needs a ring or a grid";
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d) {
    if (!std::has_single_bit(grid.extent(d))) return fmt::format("it needs powers of two, not {}", grid.extent(d));
  }
  return {};
}

}  // namespace hocket

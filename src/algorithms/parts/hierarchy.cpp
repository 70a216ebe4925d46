#include "algorithms/parts/hierarchy.h"

#include <algorithm>

#include "algorithms/parts/grid.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

using StepFunction = void (*)(Transfers&, const GroupRing&, std::uint32_t, OpOptions);

class PhaseWriter {
 public:
  PhaseWriter(const RankGrid& grid, std::uint32_t ranks, std::uint32_t ways, Transfers& transfers)
      : grid_(grid), ranks_(ranks), ways_(ways), transfers_(transfers) {}

  /// One ring phase along a dimension, in all its lines and all ways.
  void write(std::uint32_t dimension, StepFunction function) {
    std::vector<std::vector<GroupRing>> rings(ways_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (grid_.coordinate(rank, dimension) != 0) continue;
      for (std::uint32_t way = 0; way < ways_; ++way) rings[way].push_back(ring(rank, dimension, way));
    }
    for (std::uint32_t step = 0; step + 1 < grid_.extent(dimension); ++step, ++step_) {
      for (std::uint32_t way = 0; way < ways_; ++way) {
        const OpOptions options{.channel = static_cast<std::uint16_t>(way), .step = step_};
        for (const GroupRing& ring : rings[way]) function(transfers_, ring, step, options);
      }
    }
  }

 private:
  /// The line of `rank` as a ring. Chunk i ends at members[i]; inside (dimension 0) chunks are shards of the way's
  /// part, elsewhere parts of the shard of the line's ranks.
  [[nodiscard]] GroupRing ring(std::uint32_t rank, std::uint32_t dimension, std::uint32_t way) const {
    const std::uint32_t extent = grid_.extent(dimension);
    const std::uint32_t shard = ranks_ / grid_.extent(0);
    const std::uint32_t length = dimension == 0 ? shard : shard / extent;
    const std::uint32_t base = way * ranks_ + (dimension == 0 ? 0 : grid_.coordinate(rank, 0) * shard);
    GroupRing ring{.members = grid_.line(rank, dimension), .chunk = {}};
    if (way == 1) std::reverse(ring.members.begin(), ring.members.end());
    ring.chunk = [base, length, extent, way](std::uint32_t chunk) {
      const std::uint32_t place = way == 0 ? chunk : extent - 1 - chunk;
      return std::vector<Run>{{base + place * length, length}};
    };
    return ring;
  }

  const RankGrid& grid_;
  std::uint32_t ranks_;
  std::uint32_t ways_;
  Transfers& transfers_;
  std::uint32_t step_ = 0;
};

}  // namespace

std::string refuse_hierarchy(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce) return "it does all_reduce only";
  if (RankGrid(request.topology).dimensions() < 2) return "it needs at least 2 levels of extent above 1";
  return {};
}

Result<Schedule> plan_hierarchy(const PlanRequest& request, std::uint32_t ways, std::string_view algorithm) {
  const RankGrid grid(request.topology);
  Transfers transfers(request.collective, ways * request.collective.ranks, algorithm);
  PhaseWriter writer(grid, request.collective.ranks, ways, transfers);
  writer.write(0, ring_reduce_step);
  for (std::uint32_t dimension = 1; dimension < grid.dimensions(); ++dimension) {
    writer.write(dimension, ring_reduce_step);
    writer.write(dimension, ring_gather_step);
  }
  writer.write(0, ring_gather_step);
  return std::move(transfers).finish();
}

}  // namespace hocket

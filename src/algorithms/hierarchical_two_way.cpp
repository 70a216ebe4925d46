// The hierarchical all-reduce of ACE (Rashidi et al., ISCA 2021, section V) on rings that are used both ways: half of
// the vector travels up every ring, the other half down, so that all links of a torus carry data. Phases as in
// hierarchical.cpp: reduce-scatter inside, an all-reduce of the shard along each further dimension, all-gather inside.
// Ring of three, second step of the reduce-scatter:   first half 0 -> 1 -> 2 -> 0    second half 0 <- 1 <- 2 <- 0
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/parts/grid.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

constexpr std::uint32_t kWays = 2;

std::string supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce) return "it does all_reduce only";
  if (RankGrid(request.topology).dimensions() < 2) return "it needs at least 2 levels of extent above 1";
  return {};
}

using StepFunction = void (*)(Transfers&, const GroupRing&, std::uint32_t, OpOptions);

class PhaseWriter {
 public:
  PhaseWriter(const RankGrid& grid, std::uint32_t ranks, Transfers& transfers)
      : grid_(grid), ranks_(ranks), transfers_(transfers) {}

  /// One ring phase along a dimension, in all its lines and both ways.
  void write(std::uint32_t dimension, StepFunction function) {
    std::vector<std::vector<GroupRing>> rings(kWays);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (grid_.coordinate(rank, dimension) != 0) continue;
      for (std::uint32_t way = 0; way < kWays; ++way) rings[way].push_back(ring(rank, dimension, way));
    }
    for (std::uint32_t step = 0; step + 1 < grid_.extent(dimension); ++step, ++step_) {
      for (std::uint32_t way = 0; way < kWays; ++way) {
        const OpOptions options{.channel = static_cast<std::uint16_t>(way), .step = step_};
        for (const GroupRing& ring : rings[way]) function(transfers_, ring, step, options);
      }
    }
  }

 private:
  /// The line of `rank` as a ring. Chunk i ends at members[i]; inside (dimension 0) chunks are shards of the half,
  /// elsewhere parts of the shard of the line's ranks.
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
  Transfers& transfers_;
  std::uint32_t step_ = 0;
};

Result<Schedule> plan(const PlanRequest& request) {
  const RankGrid grid(request.topology);
  Transfers transfers(request.collective, kWays * request.collective.ranks, "hierarchical_two_way");
  PhaseWriter writer(grid, request.collective.ranks, transfers);
  writer.write(0, ring_reduce_step);
  for (std::uint32_t dimension = 1; dimension < grid.dimensions(); ++dimension) {
    writer.write(dimension, ring_reduce_step);
    writer.write(dimension, ring_gather_step);
  }
  writer.write(0, ring_gather_step);
  return std::move(transfers).finish();
}

}  // namespace

extern const Algorithm algorithm_hierarchical_two_way{
    .name = "hierarchical_two_way",
    .description = "the hierarchical all-reduce with half of the vector each way round every ring",
    .source = "Rashidi et al., ISCA 2021, section V",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

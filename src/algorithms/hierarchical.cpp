// Hierarchical all-reduce in the four phases of ACE (Rashidi et al., "Enabling Compute-Communication Overlap in
// Distributed Deep Learning Training Platforms", ISCA 2021, section V), on a local x vertical x horizontal network:
// reduce-scatter inside a box, a ring all-reduce of the shard along each further dimension, all-gather inside.
// Boxes {0 1} and {2 3}:
//     inside 0<->1, 2<->3 (halves)   across 0<->2, 1<->3 (halves, all-reduced)   inside 0<->1, 2<->3
#include "algorithms/algorithm.h"
#include "algorithms/parts/grid.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

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

  /// One ring phase along a dimension, in all its lines. Inside (dimension 0) the chunks are shards of the vector;
  /// elsewhere they are parts of the shard of the line's ranks.
  void write(std::uint32_t dimension, StepFunction function) {
    const std::uint32_t shard = ranks_ / grid_.extent(0);
    const std::uint32_t length = dimension == 0 ? shard : shard / grid_.extent(dimension);
    std::vector<GroupRing> rings;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (grid_.coordinate(rank, dimension) != 0) continue;
      const std::uint32_t base = dimension == 0 ? 0 : grid_.coordinate(rank, 0) * shard;
      rings.push_back({.members = grid_.line(rank, dimension), .chunk = [base, length](std::uint32_t chunk) {
                         return std::vector<Run>{{base + chunk * length, length}};
                       }});
    }
    for (std::uint32_t step = 0; step + 1 < grid_.extent(dimension); ++step, ++step_) {
      for (const GroupRing& ring : rings) function(transfers_, ring, step, {.step = step_});
    }
  }

 private:
  const RankGrid& grid_;
  std::uint32_t ranks_;
  Transfers& transfers_;
  std::uint32_t step_ = 0;
};

Result<Schedule> plan(const PlanRequest& request) {
  const RankGrid grid(request.topology);
  Transfers transfers(request.collective, request.collective.ranks, "hierarchical");
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

extern const Algorithm algorithm_hierarchical{
    .name = "hierarchical",
    .description = "reduce-scatter inside a box, ring all-reduce of the shard across, all-gather inside",
    .source = "Rashidi et al., ISCA 2021, section V",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

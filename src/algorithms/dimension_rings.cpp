// Rings along every dimension of a grid (Jain and Sabharwal, "Optimal bucket algorithms for large MPI collectives on
// torus interconnects", ICS 2010, section 5; with two dimensions the "2D-ring" of the MultiTree paper): reduce-scatter
// along one dimension after the other, then all-gather back in the opposite order. The vector is split in as many parts
// as there are dimensions and each part starts with another one, so that all dimensions work at once. On 2x2 ranks
//     2 3    part 0: 0<->1 and 2<->3 with halves, then 0<->2 and 1<->3 with quarters, and back
//     0 1    part 1: 0<->2 and 1<->3 with halves, then 0<->1 and 2<->3 with quarters, and back
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/parts/grid.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  if (is_rooted(kind) || kind == CollectiveKind::kAllToAll) return fmt::format("it does not do {}", name_of(kind));
  if (RankGrid(request.topology).dimensions() < 2) return "it needs a grid with at least 2 dimensions above 1";
  return {};
}

/// The chunks of every part. A part's pieces are numbered with the dimension it reduces first outermost; the chunks of
/// ring k of the part are runs of these numbers.
class PartRings {
 public:
  PartRings(const RankGrid& grid, const Collective& collective, std::uint32_t part)
      : grid_(grid), collective_(collective), part_(part) {}

  [[nodiscard]] std::uint32_t dimension(std::uint32_t level) const { return (part_ + level) % grid_.dimensions(); }

  /// The ring of `rank` in dimension(level).
  [[nodiscard]] GroupRing ring(std::uint32_t rank, std::uint32_t level) const {
    std::uint32_t base = 0;
    std::uint32_t length = collective_.ranks;
    for (std::uint32_t k = 0; k < level; ++k) {
      length /= grid_.extent(dimension(k));
      base += grid_.coordinate(rank, dimension(k)) * length;
    }
    length /= grid_.extent(dimension(level));
    return {.members = grid_.line(rank, dimension(level)),
            .chunk = [this, base, length](std::uint32_t chunk) { return runs(base + chunk * length, length); }};
  }

 private:
  /// Unblocked kinds have part after part; blocked ones have the parts inside each rank's block.
  [[nodiscard]] std::vector<Run> runs(std::uint32_t first, std::uint32_t length) const {
    if (!is_blocked(collective_.kind)) return {{part_ * collective_.ranks + first, length}};
    std::vector<Run> result;
    for (std::uint32_t i = first; i < first + length; ++i) {
      result.push_back({rank_at(i) * grid_.dimensions() + part_, 1});
    }
    return result;
  }
  /// The rank that ends with piece number `index` of this part.
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t index) const {
    std::uint32_t rank = 0;
    for (std::uint32_t level = grid_.dimensions(); level-- > 0;) {
      const std::uint32_t extent = grid_.extent(dimension(level));
      rank += index % extent * grid_.stride(dimension(level));
      index /= extent;
    }
    return rank;
  }

  const RankGrid& grid_;
  Collective collective_;
  std::uint32_t part_;
};

using StepFunction = void (*)(Transfers&, const GroupRing&, std::uint32_t, OpOptions);

/// Emits one level of all parts, step by step; `steps` counts the time steps of each part.
class LevelWriter {
 public:
  LevelWriter(const RankGrid& grid, const Collective& collective, Transfers& transfers)
      : grid_(grid), ranks_(collective.ranks), transfers_(transfers), steps_(grid.dimensions(), 0) {
    for (std::uint32_t part = 0; part < grid.dimensions(); ++part) parts_.emplace_back(grid, collective, part);
  }

  void write(std::uint32_t level, StepFunction function) {
    std::vector<std::vector<GroupRing>> rings(parts_.size());
    std::uint32_t longest = 0;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const std::uint32_t dimension = parts_[part].dimension(level);
      longest = std::max(longest, grid_.extent(dimension));
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (grid_.coordinate(rank, dimension) == 0) rings[part].push_back(parts_[part].ring(rank, level));
      }
    }
    for (std::uint32_t step = 0; step + 1 < longest; ++step) {
      for (std::size_t part = 0; part < parts_.size(); ++part) {
        if (step + 1 >= rings[part].front().members.size()) continue;
        const OpOptions options{.channel = static_cast<std::uint16_t>(part), .step = steps_[part]++};
        for (const GroupRing& ring : rings[part]) function(transfers_, ring, step, options);
      }
    }
  }

 private:
  const RankGrid& grid_;
  std::uint32_t ranks_;
  Transfers& transfers_;
  std::vector<PartRings> parts_;
  std::vector<std::uint32_t> steps_;
};

Result<Schedule> plan(const PlanRequest& request) {
  const Collective& collective = request.collective;
  const RankGrid grid(request.topology);
  Transfers transfers(collective, grid.dimensions() * collective.ranks, "dimension_rings");
  LevelWriter writer(grid, collective, transfers);
  if (reduces(collective.kind)) {
    for (std::uint32_t level = 0; level < grid.dimensions(); ++level) writer.write(level, ring_reduce_step);
  }
  if (collective.kind != CollectiveKind::kReduceScatter) {
    for (std::uint32_t level = grid.dimensions(); level-- > 0;) writer.write(level, ring_gather_step);
  }
  return std::move(transfers).finish();
}

}  // namespace

extern const Algorithm algorithm_dimension_rings{
    .name = "dimension_rings",
    .description = "rings along every dimension of a grid, all dimensions at once",
    .source = "Jain and Sabharwal, ICS 2010, section 5",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

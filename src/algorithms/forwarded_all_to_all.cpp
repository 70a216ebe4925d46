// Forwarded all-to-all: blocks go from rank to neighbour, through one dimension after the other, and every rank on the
// way takes them in and sends them on: the all-to-all of networks whose ranks are their only switches (Rashidi et al.,
// "ACE", ISCA 2021: dimension order, foreign messages forwarded; recalled). All ranks do the same, shifted, so every
// link of a dimension carries as much as the others. What has equally far to go both ways goes half each way. Ring of
// four:
//     0 -> 1, 0 -> 3 straight        0 -> 2 one half by 1, the other by 3
#include <algorithm>
#include <array>

#include "algorithms/algorithm.h"
#include "algorithms/packing/translations.h"

namespace hocket {
namespace {

/// Ops grow with ranks^2 times the distance.
constexpr std::uint32_t kRanksMax = 512;

/// The classes of links that lead one step up and one step down a dimension.
struct Steps {
  std::uint32_t extent = 1;
  std::vector<std::uint32_t> up, down;
};

std::optional<std::vector<Steps>> steps_of(const Translations& grid) {
  std::vector<Steps> dimensions;
  std::uint32_t stride = 1;
  for (const std::uint32_t extent : grid.extents()) {
    Steps steps{extent, {}, {}};
    const std::uint32_t down = stride * (extent - 1);
    for (std::uint32_t cls = 0; cls < grid.classes(); ++cls) {
      if (grid.head(0, cls) == stride) steps.up.push_back(cls);
      if (grid.head(0, cls) == down) steps.down.push_back(cls);
    }
    if (extent > 1 && (steps.up.empty() || steps.down.empty())) return std::nullopt;
    stride *= extent;
    dimensions.push_back(std::move(steps));
  }
  return dimensions;
}

std::string supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllToAll) return "it does all_to_all only";
  if (request.collective.ranks > kRanksMax) return fmt::format("it plans for at most {} ranks", kRanksMax);
  const std::optional<Translations> grid = Translations::of(request.topology);
  if (!grid || !steps_of(*grid)) return "it needs a torus, ring or hypercube that looks the same from every rank";
  return {};
}

class Forwarder {
 public:
  Forwarder(const PlanRequest& request, const Translations& grid, std::vector<Steps> dimensions)
      : grid_(grid),
        dimensions_(std::move(dimensions)),
        ranks_(request.collective.ranks),
        halves_(needs_halves() ? 2 : 1),
        builder_(request.collective, {.blocks = ranks_, .pieces_per_block = halves_, .weights = {}},
                 "forwarded_all_to_all") {
    builder_.set_topology(request.topology.fingerprint());
  }

  Result<Schedule> plan() && {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      builder_.copy(rank, {Buffer::kInput, rank * halves_, halves_}, {Buffer::kOutput, rank * halves_, halves_});
    for (std::uint32_t offset = 1; offset < ranks_; ++offset) {
      for (std::uint32_t half = 0; half < halves_; ++half) send(offset, half);
      slots_ += static_cast<std::uint32_t>(path(offset, 0).size() - 1);
    }
    builder_.set_scratch_pieces(slots_ * halves_);
    return std::move(builder_).finish();
  }

 private:
  [[nodiscard]] bool needs_halves() const {
    return std::any_of(dimensions_.begin(), dimensions_.end(), [](const Steps& s) { return s.extent % 2 == 0; });
  }

  /// Classes of links from a rank to the one at `offset`; parallel cables are taken in turn.
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t offset, std::uint32_t half) const {
    std::vector<std::uint32_t> classes;
    std::uint32_t rest = offset;
    for (const Steps& steps : dimensions_) {
      const std::uint32_t far = rest % steps.extent;
      rest /= steps.extent;
      const bool up = far * 2 < steps.extent || (far * 2 == steps.extent && half == 0);
      const std::vector<std::uint32_t>& links = up ? steps.up : steps.down;
      // Up and down are the same cables where the extent is 2.
      for (std::uint32_t hop = 0; hop < (up ? far : steps.extent - far); ++hop)
        classes.push_back(links[(offset / 2 + half) % links.size()]);
    }
    return classes;
  }

  /// Where a rank keeps what it has received by hop `hop`: it forwards for one rank per hop of the way.
  [[nodiscard]] PieceRange slot(std::uint32_t hop, std::uint32_t half) const {
    return {Buffer::kScratch, (slots_ + hop) * halves_ + half, 1};
  }

  /// The half blocks for the rank at `offset`, of all ranks.
  void send(std::uint32_t offset, std::uint32_t half) {
    const std::vector<std::uint32_t> classes = path(offset, half);
    const auto channel = static_cast<std::uint16_t>(offset * halves_ + half);
    for (std::uint32_t first = 0; first < ranks_; ++first) {
      const std::uint32_t last = grid_.sum(first, offset);
      std::uint32_t at = first;
      for (std::uint32_t hop = 0; hop < classes.size(); ++hop) {
        const std::uint32_t next = grid_.head(at, classes[hop]);
        const std::array<std::uint32_t, 1> link{grid_.link(at, classes[hop])};
        const OpOptions options{.channel = channel, .step = hop, .route = builder_.add_route(link)};
        const PieceRange source = hop == 0 ? PieceRange{Buffer::kInput, last * halves_ + half, 1} : slot(hop - 1, half);
        const PieceRange target =
            hop + 1 == classes.size() ? PieceRange{Buffer::kOutput, first * halves_ + half, 1} : slot(hop, half);
        builder_.send(at, next, source, options);
        builder_.recv(next, at, target, {.channel = channel, .step = hop});
        at = next;
      }
    }
  }

  const Translations& grid_;
  std::vector<Steps> dimensions_;
  std::uint32_t ranks_;
  std::uint32_t halves_;
  std::uint32_t slots_ = 0;  // for blocks on their way to nearer offsets, used up
  ScheduleBuilder builder_;
};

Result<Schedule> plan(const PlanRequest& request) {
  const std::optional<Translations> grid = Translations::of(request.topology);
  return Forwarder(request, *grid, *steps_of(*grid)).plan();
}

}  // namespace

extern const Algorithm algorithm_forwarded_all_to_all{
    .name = "forwarded_all_to_all",
    .description = "all-to-all from neighbour to neighbour, through one dimension after the other",
    .source = "Rashidi et al., ISCA 2021 (the all-to-all of ACE; recalled)",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

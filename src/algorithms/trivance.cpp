// Trivance (arXiv 2026): log3 N steps on rings and tori whose extents are powers of three. In step i a rank exchanges
// all it has with the two ranks 3^i away, one in each direction, and adds both; its sum then covers the 3^(i+1) ranks
// around it. Ring of nine:
//     step 0: 0 has 8 0 1     step 1: 0 meets 3 (2 3 4) and 6 (5 6 7)
// On a torus the dimensions take turns, and each of as many parts of the vector begins with another one.
#include "algorithms/algorithm.h"
#include "algorithms/parts/exchange.h"
#include "algorithms/parts/grid.h"

namespace hocket {
namespace {

/// n when `extent` is 3^n, otherwise 0.
std::uint32_t log_three(std::uint32_t extent) {
  std::uint32_t steps = 0;
  for (; extent % 3 == 0; extent /= 3) ++steps;
  return extent == 1 ? steps : 0;
}

std::string supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce) {
    return fmt::format("it does not do {}", name_of(request.collective.kind));
  }
  const RankGrid grid(request.topology);
  if (grid.dimensions() == 0) return "it needs a ring or a grid";
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d) {
    if (log_three(grid.extent(d)) == 0) return fmt::format("it needs powers of three, not {}", grid.extent(d));
  }
  return {};
}

Result<Schedule> plan(const PlanRequest& request) {
  const RankGrid grid(request.topology);
  std::vector<std::uint32_t> steps;
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d) steps.push_back(log_three(grid.extent(d)));
  std::vector<std::vector<DimensionStep>> turns;
  for (std::uint32_t part = 0; part < grid.dimensions(); ++part) turns.push_back(take_turns(steps, part));
  const auto peers = [&](std::uint32_t rank, std::uint32_t part, std::uint32_t step) {
    const DimensionStep turn = turns[part][step];
    const std::uint32_t extent = grid.extent(turn.dimension);
    const std::uint32_t at = grid.coordinate(rank, turn.dimension);
    std::uint32_t distance = 1;
    for (std::uint32_t i = 0; i < turn.step; ++i) distance *= 3;
    std::vector<std::uint32_t> both;
    for (const std::uint32_t to : {(at + distance) % extent, (at + extent - distance) % extent}) {
      both.push_back(rank + (to - at) * grid.stride(turn.dimension));
    }
    return both;
  };
  const ExchangePlan exchange{
      .parts = grid.dimensions(), .steps = static_cast<std::uint32_t>(turns.front().size()), .peers = peers};
  return schedule_exchange(request.collective, exchange, "trivance");
}

}  // namespace

extern const Algorithm algorithm_trivance{
    .name = "trivance",
    .description = "exchange with both ranks 3^i away; for small vectors on rings and tori of powers of three",
    .source = "Trivance, arXiv 2026",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

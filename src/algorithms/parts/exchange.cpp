#include "algorithms/parts/exchange.h"

#include <numeric>

#include "algorithms/parts/transfers.h"

namespace hocket {

Result<Schedule> schedule_exchange(const Collective& collective, const ExchangePlan& plan, std::string_view algorithm) {
  Transfers transfers(collective, plan.parts, algorithm);
  for (std::uint32_t step = 0; step < plan.steps; ++step) {
    for (std::uint32_t part = 0; part < plan.parts; ++part) {
      const OpOptions options{.channel = static_cast<std::uint16_t>(part), .step = step};
      for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
        for (const std::uint32_t peer : plan.peers(rank, part, step)) transfers.send(rank, peer, {part, 1}, options);
      }
      for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
        for (const std::uint32_t peer : plan.peers(rank, part, step)) {
          transfers.recv_reduce(rank, peer, {part, 1}, options);
        }
      }
    }
  }
  return std::move(transfers).finish();
}

std::vector<DimensionStep> take_turns(const std::vector<std::uint32_t>& steps_of_dimension, std::uint32_t first) {
  const std::uint32_t total = std::accumulate(steps_of_dimension.begin(), steps_of_dimension.end(), 0U);
  const auto dimensions = static_cast<std::uint32_t>(steps_of_dimension.size());
  std::vector<std::uint32_t> done(dimensions, 0);
  std::vector<DimensionStep> turns;
  for (std::uint32_t d = first; turns.size() < total; d = (d + 1) % dimensions) {
    if (done[d] < steps_of_dimension[d]) turns.push_back({d, done[d]++});
  }
  return turns;
}

}  // namespace hocket

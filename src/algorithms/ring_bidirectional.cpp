// Ring in both directions: two rings on one cycle, each with half of every block, running against each other.
// On full-duplex links it halves the time of one direction. Same steps as ring.cpp.
//
//   4 ranks:   0 -> 1 -> 2 -> 3 -> 0   carries the first half
//              0 <- 1 <- 2 <- 3 <- 0   carries the second half
#include "algorithms/parts/cycle.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  if (kind == CollectiveKind::kAllToAll || is_rooted(kind))
    return "only all_reduce, reduce_scatter and all_gather run both ways";
  if (request.collective.ranks < 3) return "two ranks have one neighbour";
  return {};
}

Result<Schedule> plan(const PlanRequest& request) {
  const std::vector<std::uint32_t> order = cycle_order(request.topology);
  const Collective& c = request.collective;
  const Division division{is_blocked(c.kind) ? c.ranks : 1, is_blocked(c.kind) ? 2 : 2 * c.ranks, {}, false};
  ScheduleBuilder builder(c, division, "ring_bidirectional");
  add_ring(builder, {.order = order, .first_piece = 0, .stride = 2, .channel = 0, .forward = true});
  add_ring(builder, {.order = order, .first_piece = 1, .stride = 2, .channel = 1, .forward = false});
  return std::move(builder).finish();
}

}  // namespace

extern const Algorithm algorithm_ring_bidirectional{
    .name = "ring_bidirectional",
    .description = "two opposed rings on one cycle, half of the data each",
    .source = "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication, CCPE 2007, section 6",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// Ring: N - 1 steps of reduce-scatter and N - 1 of all-gather along one directed cycle (Patarasu and Yuan 2009).
// Every rank sends one N-th to its successor in each step; broadcast and reduce run as a pipeline along the cycle.
//
//   3 ranks, piece p starts at rank p:   step 0   0 -p0-> 1   1 -p1-> 2   2 -p2-> 0   (reduce)
//                                        step 1   0 -p2-> 1   1 -p0-> 2   2 -p1-> 0   (reduce: rank r has p(r+1) whole)
//                                        steps 2, 3 carry the whole pieces on (gather)
#include "algorithms/parts/cycle.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  if (request.collective.kind == CollectiveKind::kAllToAll) return "all_to_all has no ring form here";
  return {};
}

Result<Schedule> plan(const PlanRequest& request) {
  const std::vector<std::uint32_t> order = cycle_order(request.topology);
  const Collective& c = request.collective;
  if (is_rooted(c.kind)) return plan_chain(c, order, "ring");
  const Division division{is_blocked(c.kind) ? c.ranks : 1, is_blocked(c.kind) ? 1 : c.ranks, {}, false};
  ScheduleBuilder builder(c, division, "ring");
  add_ring(builder, {.order = order, .first_piece = 0, .channel = 0, .forward = true});
  return std::move(builder).finish();
}

}  // namespace

extern const Algorithm algorithm_ring{
    .name = "ring",
    .description = "one directed cycle, placed on neighbours where the topology has such a cycle",
    .source = "Patarasu and Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009, section 4",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

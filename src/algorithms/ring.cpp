// Ring (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009, section
// 3): N - 1 steps of reduce-scatter, then N - 1 of all-gather, each rank sending one block to its successor in each
// step. Block b, of three ranks, reduced at rank b (+b: adds its own part), then passed on:
//     step 0: 0 -b2-> 1   1 -b0-> 2   2 -b1-> 0        step 2: 0 -b0-> 1   1 -b1-> 2   2 -b2-> 0
//     step 1: 0 -b1-> 1   1 -b2-> 2   2 -b0-> 0        step 3: 0 -b2-> 1   1 -b0-> 2   2 -b1-> 0
// The ranks lie on a cycle of direct links where the topology has one. Broadcast and reduce are a chain through which
// the vector is streamed in pieces.
#include "algorithms/algorithm.h"
#include "algorithms/parts/hamilton.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) { return refuse_all_to_all(request.collective); }

Result<Schedule> plan(const PlanRequest& request) {
  const RingOrder order = ring_order(request.topology);
  const RingTrees rings = ring_trees(request.collective, std::span(&order.ranks, 1));
  const TreePlan trees{.up = rings.up,
                       .down = rings.down,
                       .pieces_per_tree = is_rooted(request.collective.kind) ? kPipelinePieces : 1,
                       .channels = 1};
  return schedule_trees(request.collective, trees, "ring");
}

}  // namespace

extern const Algorithm algorithm_ring{
    .name = "ring",
    .description = "one ring, one direction: N-1 steps to reduce, N-1 to spread; a pipelined chain for rooted kinds",
    .source = "Patarasu and Yuan, JPDC 2009, section 3",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

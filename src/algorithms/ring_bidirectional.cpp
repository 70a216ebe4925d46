// Two rings over the same cycle, one in each direction, each with half of the vector (Jain and Sabharwal, "Optimal
// bucket algorithms for large MPI collectives on torus interconnects", ICS 2010, section 4). Both directions of every
// link of the cycle work at once. Of three ranks, a and b being the halves of a block:
//     step 0: 0 -a2-> 1   1 -a0-> 2   2 -a1-> 0   and   0 -b1-> 2   2 -b0-> 1   1 -b2-> 0
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/parts/hamilton.h"
#include "algorithms/parts/rings.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) { return refuse_all_to_all(request.collective); }

Result<Schedule> plan(const PlanRequest& request) {
  std::vector<std::vector<std::uint32_t>> cycles(2, ring_order(request.topology).ranks);
  std::reverse(cycles[1].begin(), cycles[1].end());
  const RingTrees rings = ring_trees(request.collective, cycles);
  const TreePlan trees{.up = rings.up,
                       .down = rings.down,
                       .pieces_per_tree = is_rooted(request.collective.kind) ? kPipelinePieces : 1,
                       .channels = 2};
  return schedule_trees(request.collective, trees, "ring_bidirectional");
}

}  // namespace

extern const Algorithm algorithm_ring_bidirectional{
    .name = "ring_bidirectional",
    .description = "two rings in opposite directions over one cycle, half of the vector on each",
    .source = "Jain and Sabharwal, ICS 2010, section 4",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// MultiTree (Huang et al., "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning", ISCA 2021,
// section III): one spanning tree per rank, all grown together so that no two of them use a link at the same time.
// Every tree carries 1/N of the vector. In each time step the trees take turns, one attachment each, the first root
// rotating; a rank attached in a step forwards in a later one. Reduction runs the same trees backwards.
// A ring of three, steps in brackets; both links of every rank work in step 0 and the trees are complete:
//     tree 0: 0 -(0)-> 1      tree 1: 1 -(0)-> 2      tree 2: 2 -(0)-> 0
//             0 -(0)-> 2              1 -(0)-> 0              2 -(0)-> 1
// Beyond the paper: links of any rate, by the time at which they become free, and no lockstep when it runs: a rank
// sends when its data are there. Broadcast and reduce grow several trees at their root, one for every link that leaves
// it.
#include <algorithm>
#include <numeric>

#include "algorithms/algorithm.h"
#include "algorithms/parts/forest.h"
#include "algorithms/parts/trees.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) { return refuse_all_to_all(request.collective); }

constexpr std::uint32_t kRootTreesMax = 16;

std::vector<std::uint32_t> roots_of(const PlanRequest& request) {
  const Collective& collective = request.collective;
  if (!is_rooted(collective.kind)) {
    std::vector<std::uint32_t> roots(collective.ranks);
    std::iota(roots.begin(), roots.end(), 0U);
    return roots;
  }
  const VertexId at = request.topology.vertex_of(collective.root);
  const std::size_t links = collective.kind == CollectiveKind::kReduce ? request.topology.incoming(at).size()
                                                                       : request.topology.outgoing(at).size();
  return std::vector<std::uint32_t>(std::min<std::size_t>(links, kRootTreesMax), collective.root);
}

Result<Schedule> plan(const PlanRequest& request) {
  const Collective& collective = request.collective;
  const std::vector<std::uint32_t> roots = roots_of(request);
  HOCKET_TRY_ASSIGN(const Forest down, grow_forest(request.topology, roots, false));
  Trees up;
  if (reduces(collective.kind)) {
    up = twin_trees(request.topology, down.trees);
    if (up.count == 0) {
      HOCKET_TRY_ASSIGN(Forest reversed, grow_forest(request.topology, roots, true));
      up = std::move(reversed.trees);
    }
  }
  const TreePlan trees{.up = up,
                       .down = down.trees,
                       .pieces_per_tree = is_rooted(collective.kind) ? kPipelinePieces : 1,
                       .topology = &request.topology};
  return schedule_trees(collective, trees, "multitree");
}

}  // namespace

extern const Algorithm algorithm_multitree{
    .name = "multitree",
    .description = "one spanning tree per rank, grown together over the topology's links without contention",
    .source = "Huang et al., ISCA 2021, section III",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// Packed trees: all-reduce over several spanning trees of the cables at once, each with an equal share of the vector
// that is reduced up to the tree's centre and broadcast down the same tree, in a pipeline. A cable of a tree carries
// the share once in each direction, so the trees that share the cables most evenly give the best bandwidth: D over the
// strength of the graph (Tutte 1961, Nash-Williams 1961), which no all-reduce on direct networks of equal directions
// can beat (docs/bounds.md). Four ranks in a row with one more cable:
//     0 - 1      tree A: 0-1 1-3 3-2      tree B: 0-2 2-3 0-1      tree C: 0-2 0-1 1-3    each cable in
//     |   |      tree D: 2-3 1-3 0-2      four trees of three cables load four cables three times each
//     2 - 3
#include <algorithm>
#include <map>

#include "algorithms/algorithm.h"
#include "algorithms/packing/cables.h"
#include "algorithms/parts/trees.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce)
    return fmt::format("it does not do {}", name_of(request.collective.kind));
  if (request.topology.rank_count() != request.topology.vertices().size())
    return "it needs a network whose vertices all take part";
  if (!cables_connect(request.topology)) return "links with a twin in the other direction do not join all ranks";
  return {};
}

Result<Schedule> plan(const PlanRequest& request) {
  const Cables cables = pair_links(request.topology);
  const SpanningPacking packing = pack_spanning_trees(cables.graph);
  const Trees down = trees_of(packing, cables, false);
  const Trees up = trees_of(packing, cables, true);
  return schedule_trees(request.collective, {.up = up, .down = down, .topology = &request.topology}, "packed_trees");
}

}  // namespace

extern const Algorithm algorithm_packed_trees{
    .name = "packed_trees",
    .description = "spanning trees that share all cables evenly, reduced and broadcast in a pipeline",
    .source = "Nash-Williams, J. London Math. Soc. 1961; docs/bounds.md",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

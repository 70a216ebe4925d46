// Hierarchical all-reduce in the four phases of ACE (Rashidi et al., "Enabling Compute-Communication Overlap in
// Distributed Deep Learning Training Platforms", ISCA 2021, section V), on a local x vertical x horizontal network:
// reduce-scatter inside a box, a ring all-reduce of the shard along each further dimension, all-gather inside.
// Boxes {0 1} and {2 3}:
//     inside 0<->1, 2<->3 (halves)   across 0<->2, 1<->3 (halves, all-reduced)   inside 0<->1, 2<->3
#include "algorithms/parts/hierarchy.h"

namespace hocket {
namespace {

Result<Schedule> plan(const PlanRequest& request) { return plan_hierarchy(request, 1, "hierarchical"); }

}  // namespace

extern const Algorithm algorithm_hierarchical{
    .name = "hierarchical",
    .description = "reduce-scatter inside a box, ring all-reduce of the shard across, all-gather inside",
    .source = "Rashidi et al., ISCA 2021, section V",
    .supports = refuse_hierarchy,
    .plan = plan,
};

}  // namespace hocket

// The hierarchical all-reduce of ACE (Rashidi et al., ISCA 2021, section V) on rings that are used both ways: half of
// the vector travels up every ring, the other half down, so that all links of a torus carry data. Phases as in
// parts/hierarchy.h: reduce-scatter inside, an all-reduce of the shard along each further dimension, all-gather inside.
// Ring of three, second step of the reduce-scatter:   first half 0 -> 1 -> 2 -> 0    second half 0 <- 1 <- 2 <- 0
#include "algorithms/parts/hierarchy.h"

namespace hocket {
namespace {

Result<Schedule> plan(const PlanRequest& request) { return plan_hierarchy(request, 2, "hierarchical_two_way"); }

}  // namespace

extern const Algorithm algorithm_hierarchical_two_way{
    .name = "hierarchical_two_way",
    .description = "the hierarchical all-reduce with half of the vector each way round every ring",
    .source = "Rashidi et al., ISCA 2021, section V",
    .supports = refuse_hierarchy,
    .plan = plan,
};

}  // namespace hocket

// Hierarchy: the phases of ACE's hierarchical all-reduce (Rashidi et al., ISCA 2021, section V) on any grid of ranks:
// reduce-scatter inside a box, a ring all-reduce of the shard along each further dimension, all-gather inside. Rings
// travel up their lines, or, with two ways, half of the vector up and the other half down.
// Threading: pure functions. Refuses (refuse_hierarchy): other collectives, grids of fewer than two levels.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/algorithm.h"

namespace hocket {

/// "" or why not.
[[nodiscard]] std::string refuse_hierarchy(const PlanRequest& request);

/// `ways`: 1 or 2.
[[nodiscard]] Result<Schedule> plan_hierarchy(const PlanRequest& request, std::uint32_t ways,
                                              std::string_view algorithm);

}  // namespace hocket

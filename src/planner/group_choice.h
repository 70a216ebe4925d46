// choose_for_groups(): which schedule each collective of a task graph runs inside its group. Algorithms that the caller
// names come first, then the usual ones (step_choice.h); then, for groups of few ranks, what the planner finds fastest
// for the largest such collective, and for larger ones a ring, or every rank to every other one for all-to-all.
// Ownership: the chooser owns what it keeps. Threading: one owner.
// Refuses: unknown algorithms, collectives that nothing can plan.
#pragma once

#include <string>
#include <vector>

#include "simulator/graph_plans.h"

namespace hocket {

[[nodiscard]] Result<GroupChooser> choose_for_groups(const std::vector<std::string>& algorithms,
                                                     Forwarding forwards = Forwarding::kNetwork);

}  // namespace hocket

// choose_for_groups(): which schedule each collective of a task graph runs inside its group. Algorithms that the caller
// names come first, in that order, where they support the collective; then rings both ways through the dimensions of a
// grid, whose chunks pipeline; then, for groups of few ranks, what the planner finds fastest for the largest such
// collective, and for larger ones a ring, or every rank to every other one for all-to-all.
// Ownership: the chooser owns what it keeps. Threading: one owner.
// Refuses: unknown algorithms, collectives that nothing can plan.
#pragma once

#include <string>
#include <vector>

#include "simulator/graph_plans.h"

namespace hocket {

[[nodiscard]] Result<GroupChooser> choose_for_groups(const std::vector<std::string>& algorithms);

}  // namespace hocket

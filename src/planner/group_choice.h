// choose_for_groups(): which schedule each collective of a task graph runs inside its group with one of the platform's
// engines. Algorithms that the caller names come first, then the usual ones; then, for groups of few ranks, what is
// fastest for the largest such collective at the endpoints (step_choice.h), and for larger ones a ring, or every rank
// to every other one for all-to-all. Ownership: the chooser borrows platform and engine. Threading: one owner. Refuses:
// unknown algorithms, collectives that nothing can plan.
#pragma once

#include <string>
#include <vector>

#include "simulator/graph_plans.h"

namespace hocket {

[[nodiscard]] Result<GroupChooser> choose_for_groups(const std::vector<std::string>& algorithms,
                                                     const Platform& platform, const CommunicationEngine& engine);

}  // namespace hocket

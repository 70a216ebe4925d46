// choose_schedules(): which schedule each collective of a training step runs. Algorithms that the caller names come
// first, in that order, where they support the collective; then rings both ways through the dimensions of a grid, whose
// chunks pipeline; then what the planner finds fastest for the largest such collective of the workload.
// Ownership: the chooser keeps what it has chosen; it borrows topology and workload. Threading: one owner.
// Refuses: unknown algorithms, collectives that nothing can plan.
#pragma once

#include <string>
#include <vector>

#include "simulator/step.h"

namespace hocket {

[[nodiscard]] Result<ScheduleChooser> choose_schedules(const Topology& topology, const Workload& workload,
                                                       const std::vector<std::string>& algorithms);

}  // namespace hocket

// choose_schedules(): which schedule each collective of a training step runs with one of the platform's engines.
// Algorithms that the caller names come first, in that order, where they support the collective; then rings both ways
// through the dimensions of a grid, whose chunks pipeline, and for an all-to-all, where npus forward, blocks that they
// pass on through these dimensions; then what is fastest for the largest such collective of the workload: of those that
// the planner finds fastest on the network the one whose chunks are, at these endpoints (endpoint_choice.h).
// Ownership: the chooser borrows machine and workload. Threading: one owner.
// Refuses: unknown algorithms, collectives that nothing can plan.
#pragma once

#include <string>
#include <vector>

#include "platform/platform.h"
#include "simulator/step.h"

namespace hocket {

struct Algorithm;

[[nodiscard]] Result<ScheduleChooser> choose_schedules(const StepMachine& machine, const Workload& workload,
                                                       const std::vector<std::string>& algorithms);

/// The algorithms that are tried in order before any search: those named, then the usual ones.
[[nodiscard]] Result<std::vector<const Algorithm*>> usual_algorithms(const std::vector<std::string>& named,
                                                                     Forwarding forwards);

}  // namespace hocket

// Repair: a schedule whose pieces travel along trees, changed so that it runs on a network that has lost links.
// The trees are read from the schedule's messages; ranks whose link is gone are hung on other parents of the same tree
// and the load is evened out. What still works stays as it was, so that it takes far less than planning anew.
// Threading: pure functions. Refuses: other numbers of ranks, pieces that do not travel along trees (all-to-all, rings
// of exchanges), ranks that cannot be reached any more.
#pragma once

#include "base/result.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

namespace hocket {

/// Routes of `old` are not looked at; between a parent and a child that are still joined the emptiest shortest way is
/// taken.
[[nodiscard]] Result<Schedule> repair_schedule(const Schedule& old, const Topology& topology);

}  // namespace hocket

// Repair: a schedule whose pieces travel along trees, changed so that it runs on a network that has lost links or
// ranks. The trees are read from the schedule's messages; ranks whose link or parent is gone are hung on other parents
// of the same tree and the load is evened out. What still works stays as it was, so that it takes far less than
// planning anew. Threading: pure functions. Refuses: other numbers of ranks, pieces that do not travel along trees
// (all-to-all, rings of exchanges), ranks that cannot be reached any more, a lost root of the collective.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

namespace hocket {

/// Routes of `old` are not looked at; between a parent and a child that are still joined the emptiest shortest way is
/// taken. `survivors`: per rank of the topology which rank of `old` it was, ascending; empty: all are there. The trees
/// of a lost rank's own block go with it; so do those of an all-reduce that gives every rank as many trees.
[[nodiscard]] Result<Schedule> repair_schedule(const Schedule& old, const Topology& topology,
                                               std::span<const std::uint32_t> survivors = {});

}  // namespace hocket

// spread_routes(): a schedule whose messages, of equally short ways, take those that spread the bytes of each step over
// the links. Algorithms that know nothing of the network leave the way of a message to the Router, whose fixed choice
// sends many messages of a step over the same links where others stay idle: on a ring of four, 0 -> 2 and 1 -> 3 and
// back can all go without meeting. Step by step, message after message takes its load back and goes where the sum of
// the squares of the links' loads grows least, until nothing changes or eight times.
// Ownership: takes and returns the schedule. Threading: pure function.
// Refuses: nothing; a schedule that states routes itself comes back as it was.
#pragma once

#include "base/result.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

namespace hocket {

[[nodiscard]] Result<Schedule> spread_routes(Schedule schedule, const Topology& topology);

}  // namespace hocket

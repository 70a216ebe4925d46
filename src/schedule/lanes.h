// message_lanes(): which of several connections between two ranks a message takes. Messages that go the same way share
// a connection: lane k of a direction is the k-th different route among the messages of its sender to that receiver, in
// program order; messages without a stated route go by channel, which chooses among parallel links. Both ends and
// whoever lays out the network (which leads lane k along that route) count alike. Threading: pure function. Refuses:
// nothing.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace hocket {

/// By op of the rank, from its first on; 0 for ops that meet nobody.
[[nodiscard]] std::vector<std::uint32_t> message_lanes(const Schedule& schedule, std::uint32_t rank);

}  // namespace hocket

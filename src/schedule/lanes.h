// message_lanes(): which of several connections between two ranks a message takes. Messages that go the same way share
// a connection: lane k of a direction is the k-th different route among the messages of its sender to that receiver, in
// program order; messages without a stated route go by channel, which chooses among parallel links. Both ends and
// whoever lays out the network (which leads lane k along that route) count alike. Where a lane has several connections
// its messages take turns. Threading: pure function. Refuses: nothing.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace hocket {

struct MessageLane {
  std::uint32_t lane = 0;
  std::uint32_t turn = 0;  // messages before it on that lane, in that direction
  bool operator==(const MessageLane&) const = default;
};

/// By op of the rank, from its first on; zeros for ops that meet nobody.
[[nodiscard]] std::vector<MessageLane> message_lanes(const Schedule& schedule, std::uint32_t rank);

}  // namespace hocket

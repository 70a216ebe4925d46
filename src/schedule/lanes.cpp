#include "schedule/lanes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hocket {
namespace {

struct Message {
  std::uint32_t peer;
  bool sent;  // by this rank
  OpId send;
  OpId here;
};

bool same_direction(const Message& a, const Message& b) { return a.peer == b.peer && a.sent == b.sent; }

/// Of one direction between the rank and one peer, in the sender's order.
class LaneCount {
 public:
  MessageLane of(const Op& send) {
    const Way way{send.route, send.route == kNoRoute ? send.channel : std::uint16_t{0}, 0};
    auto found = std::find_if(ways_.begin(), ways_.end(),
                              [&way](const Way& w) { return w.route == way.route && w.channel == way.channel; });
    if (found == ways_.end()) found = ways_.insert(ways_.end(), way);
    return {static_cast<std::uint32_t>(found - ways_.begin()), found->messages++};
  }
  void clear() { ways_.clear(); }

 private:
  struct Way {
    std::uint32_t route;
    std::uint16_t channel;
    std::uint32_t messages;
  };
  std::vector<Way> ways_;
};

}  // namespace

std::vector<MessageLane> message_lanes(const Schedule& schedule, std::uint32_t rank) {
  const OpId first = schedule.first_op(rank);
  const OpId end = schedule.first_op(rank + 1);
  std::vector<Message> messages;
  messages.reserve(end - first);
  for (OpId id = first; id < end; ++id) {
    const Op& op = schedule.op(id);
    if (op.sends()) messages.push_back({op.peer, true, id, id});
    if (op.receives() && schedule.match(id) != kNoOp) messages.push_back({op.peer, false, schedule.match(id), id});
  }
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tuple(a.peer, a.sent, a.send) < std::tuple(b.peer, b.sent, b.send);
  });
  std::vector<MessageLane> lanes(end - first);
  LaneCount count;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i > 0 && !same_direction(messages[i - 1], messages[i])) count.clear();
    lanes[messages[i].here - first] = count.of(schedule.op(messages[i].send));
  }
  return lanes;
}

}  // namespace hocket

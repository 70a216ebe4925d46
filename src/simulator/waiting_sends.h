// WaitingSends: per link, the sends of its own vertex that wait for it, in the order of SendQueue, and whether one of
// them is entering it.
// Ownership: owns the queues. Threading: one owner. Refuses: asking for the lowest of none (broken invariant).
#pragma once

#include <vector>

#include "schedule/send_queue.h"
#include "topology/topology.h"

namespace hocket {

class WaitingSends {
 public:
  explicit WaitingSends(std::size_t links) : ports_(links) {}

  /// A segment of a sender is entering the link or on it.
  [[nodiscard]] bool busy(LinkId link) const { return ports_[link].busy; }
  void release(LinkId link) { ports_[link].busy = false; }
  /// Busy from now on if something waits, otherwise idle.
  bool start(LinkId link) { return ports_[link].busy = !ports_[link].queue.empty(); }
  [[nodiscard]] SendQueue& queue(LinkId link) { return ports_[link].queue; }

 private:
  struct Port {
    SendQueue queue;
    bool busy = false;
  };
  std::vector<Port> ports_;
};

}  // namespace hocket

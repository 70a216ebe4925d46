// WaitingSends: per link, the sends of its own vertex that wait for it, the one with the lowest segment first and of
// equals the one that has the lower number.
// Ownership: owns the queues. Threading: one owner. Refuses: asking for the lowest of none (broken invariant).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/assert.h"
#include "schedule/op.h"
#include "topology/topology.h"

namespace hocket {

class WaitingSends {
 public:
  struct Entry {
    std::uint32_t segment = 0;  // the next one to leave
    OpId op = kNoOp;
    auto operator<=>(const Entry&) const = default;
  };

  explicit WaitingSends(std::size_t links) : ports_(links) {}

  /// A segment of a sender is entering the link or on it.
  [[nodiscard]] bool busy(LinkId link) const { return ports_[link].busy; }
  /// Busy from now on if something waits, otherwise idle.
  bool start(LinkId link) { return ports_[link].busy = !ports_[link].heap.empty(); }

  void push(LinkId link, Entry entry) {
    std::vector<Entry>& heap = ports_[link].heap;
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
  [[nodiscard]] const Entry& lowest(LinkId link) const {
    HOCKET_ASSERT(!ports_[link].heap.empty(), "nothing waits for the link");
    return ports_[link].heap.front();
  }
  /// Takes the lowest away; `again` comes in its place when `keep`.
  void replace_lowest(LinkId link, Entry again, bool keep) {
    std::vector<Entry>& heap = ports_[link].heap;
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    if (keep) push(link, again);
  }

 private:
  struct Port {
    std::vector<Entry> heap;
    bool busy = false;
  };
  std::vector<Port> ports_;
};

}  // namespace hocket

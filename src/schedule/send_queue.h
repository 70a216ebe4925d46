// SendQueue: which of a rank's sends goes next where several share a way: the one with the lowest segment, of equals
// the one that comes first in the program. So the first segments of all pieces travel before the second of any, which
// is what fills a pipeline. The simulator's links and the runtime's connections follow this one rule. Ownership: its
// entries; no allocation up to reserve(). Threading: one owner. Refuses: asking for the lowest of none (broken
// invariant).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/assert.h"
#include "schedule/op.h"

namespace hocket {

class SendQueue {
 public:
  struct Entry {
    std::uint32_t segment = 0;  // the next one to leave
    OpId op = kNoOp;
    auto operator<=>(const Entry&) const = default;
  };

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  void reserve(std::size_t entries) { heap_.reserve(entries); }
  void clear() { heap_.clear(); }
  void push(Entry entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  [[nodiscard]] const Entry& lowest() const {
    HOCKET_ASSERT(!heap_.empty(), "nothing waits");
    return heap_.front();
  }
  /// Takes the lowest away; `again` comes in its place when `keep`.
  void replace_lowest(Entry again, bool keep) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    if (keep) push(again);
  }

 private:
  std::vector<Entry> heap_;
};

}  // namespace hocket

// EventQueue: the order of simulated time. Events leave by (time, order of insertion), so equal inputs give equal runs.
// A 4-ary heap of small plain values; the memory grows to the largest number of pending events and is kept.
// Ownership: owns its events. Threading: one owner.
// Refuses: events before the time already reached (assert).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/units.h"

namespace hocket {

template <class Payload>
class EventQueue {
 public:
  struct Event {
    Picos time;
    std::uint64_t sequence;
    Payload payload;
  };

  void push(Picos time, Payload payload) {
    HOCKET_ASSERT(time >= now_, "an event lies in the past");
    std::size_t at = heap_.size();
    heap_.push_back({time, sequence_++, payload});
    const Event event = heap_.back();
    while (at > 0 && before(event, heap_[(at - 1) / 4])) {
      heap_[at] = heap_[(at - 1) / 4];
      at = (at - 1) / 4;
    }
    heap_[at] = event;
  }

  /// Removes and returns the earliest event; time moves on to it. Requires !empty().
  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
    now_ = first.time;
    return first;
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] Picos now() const { return now_; }
  /// Events pushed so far.
  [[nodiscard]] std::uint64_t count() const { return sequence_; }

 private:
  static bool before(const Event& a, const Event& b) {
    return a.time.count != b.time.count ? a.time.count < b.time.count : a.sequence < b.sequence;
  }

  void sift_down(const Event& event) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 4 * at + 1) {
      std::size_t least = child;
      const std::size_t end = std::min(child + 4, heap_.size());
      for (std::size_t c = child + 1; c < end; ++c) {
        if (before(heap_[c], heap_[least])) least = c;
      }
      if (!before(heap_[least], event)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = event;
  }

  std::vector<Event> heap_;
  Picos now_;
  std::uint64_t sequence_ = 0;
};

}  // namespace hocket

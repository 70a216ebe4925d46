// EventQueue: the order of simulated time. Events leave by (time, order of insertion), so equal inputs give equal runs.
// Buckets by the highest bit in which an event's time differs from the time reached (a radix heap): an event is
// appended once and moves down a few buckets as its time comes near; order inside a bucket is order of insertion, so
// ties need no counter. The buckets keep their memory: after the first rounds nothing is allocated. Ownership: owns its
// events. Threading: one owner. Refuses: events before the time already reached (assert).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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
    Payload payload;
  };

  void push(Picos time, const Payload& payload) {
    HOCKET_ASSERT(time >= now_, "an event lies in the past");
    place({time, payload});
    ++size_;
    ++count_;
  }

  /// Removes and returns the earliest event; time moves on to it. Requires !empty().
  Event pop() {
    if (next_ == buckets_[0].size()) settle();
    const Event first = buckets_[0][next_++];
    --size_;
    if (next_ >= kPoppedMax) drop_popped();
    return first;
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Time of the earliest event. Requires !empty().
  [[nodiscard]] Picos front_time() const { return next_ < buckets_[0].size() ? now_ : Picos{least_[lowest_filled()]}; }
  [[nodiscard]] Picos now() const { return now_; }
  /// Events pushed so far.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::size_t kBuckets = 64;  // times are not negative: 63 bits and equality
  static constexpr std::size_t kPoppedMax = 4096;

  void place(const Event& event) {
    const auto differ = static_cast<std::uint64_t>(event.time.count ^ now_.count);
    const auto bucket = static_cast<std::size_t>(std::bit_width(differ));
    buckets_[bucket].push_back(event);
    if (bucket == 0) return;
    least_[bucket] = (filled_ >> bucket & 1) != 0 ? std::min(least_[bucket], event.time.count) : event.time.count;
    filled_ |= std::uint64_t{1} << bucket;
  }

  [[nodiscard]] std::size_t lowest_filled() const { return static_cast<std::size_t>(std::countr_zero(filled_)); }

  /// Bucket 0 is used up: time moves on to the earliest event, and that event's bucket spreads over those below it.
  void settle() {
    HOCKET_ASSERT(filled_ != 0, "no event is left");
    buckets_[0].clear();
    next_ = 0;
    const std::size_t bucket = lowest_filled();
    now_.count = least_[bucket];
    filled_ &= ~(std::uint64_t{1} << bucket);
    for (const Event& event : buckets_[bucket]) place(event);
    buckets_[bucket].clear();
  }

  /// Long runs of events of one time give back the front half of their memory.
  void drop_popped() {
    if (2 * next_ < buckets_[0].size()) return;
    buckets_[0].erase(buckets_[0].begin(), buckets_[0].begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }

  std::array<std::vector<Event>, kBuckets> buckets_;
  std::array<std::int64_t, kBuckets> least_{};  // earliest time per filled bucket above 0
  std::uint64_t filled_ = 0;                    // a bit per bucket above 0 that has events
  std::size_t next_ = 0;                        // first event of bucket 0 not popped yet
  std::size_t size_ = 0;
  std::uint64_t count_ = 0;
  Picos now_;
};

}  // namespace hocket

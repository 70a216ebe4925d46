// Frontier: the one place that says which op may run next. Verifier, simulator and engine all ask it.
// It covers a range of ops (one rank, or all) and counts, per op, segments started, finished and arrived. Segment s of
// an op may start when every streaming dependency has finished its segment s, every other dependency has finished
// entirely, and (receives) segment s of the matching message has arrived.
// Ownership: keeps a pointer to the schedule. Threading: one owner. No allocation after construction.
// Refuses: nothing; using it out of order is a broken invariant (assert).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/assert.h"
#include "schedule/schedule.h"

namespace hocket {

/// `Count` must hold the largest number of segments of an op plus 1 (uint8_t is enough for the verifier's single ones).
template <class Count = std::uint32_t>
class Frontier {
 public:
  /// Ops [begin, end), one segment each; set_segments() changes that before anything starts.
  Frontier(const Schedule& schedule, OpId begin, OpId end)
      : schedule_(&schedule), begin_(begin), state_(end - begin), dependant_begin_(end - begin + 1, 0) {
    for (OpId id = begin; id < end; ++id) {
      for (const Dependency& d : schedule.dependencies(id)) ++dependant_begin_[d.on() - begin + 1];
    }
    std::partial_sum(dependant_begin_.begin(), dependant_begin_.end(), dependant_begin_.begin());
    dependants_.resize(dependant_begin_.back());
    // Fills each slice from its front by advancing the start, then shifts the starts back.
    for (OpId id = begin; id < end; ++id) {
      for (const Dependency& d : schedule.dependencies(id)) dependants_[dependant_begin_[d.on() - begin]++] = id;
    }
    std::copy_backward(dependant_begin_.begin(), dependant_begin_.end() - 1, dependant_begin_.end());
    dependant_begin_[0] = 0;
  }

  void set_segments(OpId id, Count segments) { at(id).total = segments; }
  [[nodiscard]] Count segments(OpId id) const { return at(id).total; }
  [[nodiscard]] Count started(OpId id) const { return at(id).started; }
  [[nodiscard]] Count finished(OpId id) const { return at(id).finished; }
  [[nodiscard]] Count arrived(OpId id) const { return at(id).arrived; }
  [[nodiscard]] bool done(OpId id) const { return at(id).finished == at(id).total; }

  /// Forgets all progress and keeps the numbers of segments.
  void restart() {
    for (State& s : state_) s = State{.total = s.total};
  }

  /// Segments of `id` that dependencies (and arrivals) allow to start now.
  [[nodiscard]] Count startable(OpId id) const {
    const State& s = at(id);
    Count limit = schedule_->op(id).receives() ? s.arrived : s.total;
    if (limit > s.started) limit = std::min(limit, released(id));
    return static_cast<Count>(limit > s.started ? limit - s.started : 0);
  }
  /// Segments that the dependencies alone release (a receive may be posted for them before its message arrives).
  [[nodiscard]] Count released(OpId id) const {
    Count limit = at(id).total;
    for (const Dependency& d : schedule_->dependencies(id)) {
      const State& on = at(d.on());
      limit = std::min(limit, d.streaming() || on.finished == on.total ? raise(on, limit) : Count{0});
    }
    return limit;
  }

  void start(OpId id, Count segments = 1) {
    HOCKET_ASSERT(segments <= startable(id), "segment started before its time");
    at(id).started = static_cast<Count>(at(id).started + segments);
  }
  /// Counts arrived segments of a receive.
  void arrive(OpId id, Count segments = 1) {
    at(id).arrived = static_cast<Count>(at(id).arrived + segments);
    HOCKET_ASSERT(at(id).arrived <= at(id).total, "more segments arrived than the op has");
  }
  /// Counts finished segments and calls `touched(OpId)` for each dependant, whose startable() may have grown.
  template <class Touched>
  void finish(OpId id, Count segments, Touched&& touched) {
    State& s = at(id);
    s.finished = static_cast<Count>(s.finished + segments);
    HOCKET_ASSERT(s.finished <= s.started, "segment finished before it started");
    for (std::size_t i = dependant_begin_[id - begin_]; i < dependant_begin_[id - begin_ + 1]; ++i)
      touched(dependants_[i]);
  }

  [[nodiscard]] OpId begin() const { return begin_; }
  [[nodiscard]] OpId end() const { return begin_ + static_cast<OpId>(state_.size()); }

 private:
  struct State {
    Count total = 1;
    Count started = 0;
    Count finished = 0;
    Count arrived = 0;
  };
  /// A finished dependency limits nothing; a streaming one limits to what it has finished.
  [[nodiscard]] static Count raise(const State& on, Count limit) {
    return on.finished == on.total ? limit : on.finished;
  }
  [[nodiscard]] State& at(OpId id) { return state_[id - begin_]; }
  [[nodiscard]] const State& at(OpId id) const { return state_[id - begin_]; }

  const Schedule* schedule_;
  OpId begin_;
  std::vector<State> state_;
  std::vector<std::uint32_t> dependant_begin_;
  std::vector<OpId> dependants_;
};

}  // namespace hocket

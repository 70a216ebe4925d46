// What threads share: counters whose growth is announced to one consumer, and a place for that consumer to sleep.
//   ProgressQueue  a fixed set of counters; any thread adds, one consumer learns which grew. Bounded by its counters:
//                  each is listed at most once however often it grows, so it is never full and never allocates.
//   Parker         one thread sleeps until woken or until a deadline; a wake before the sleep is not lost.
//   Failure        the first error of a group of threads; later ones are dropped.
// Ownership: the group that made them; they outlive its threads. Refuses: sleeping without a deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace hocket {

inline constexpr std::size_t kCacheLineBytes = 64;

using SteadyTime = std::chrono::steady_clock::time_point;

class Parker {
 public:
  /// Returns after a wake, at the deadline, or early; at once when `ready()`. Callers look again at what they wait for.
  template <class Ready>
  void park(SteadyTime deadline, Ready&& ready) {
    asleep_.store(1, std::memory_order_seq_cst);
    if (!ready()) sleep(deadline);
    asleep_.store(0, std::memory_order_relaxed);
  }
  /// After publishing (sequentially consistent) what the sleeper waits for.
  void wake() {
    if (asleep_.load(std::memory_order_seq_cst) != 0 && asleep_.exchange(0, std::memory_order_relaxed) != 0) rouse();
  }

 private:
  void sleep(SteadyTime deadline);
  void rouse();

  alignas(kCacheLineBytes) std::atomic<std::uint32_t> asleep_{0};
};

class ProgressQueue {
 public:
  explicit ProgressQueue(std::uint32_t counters) : size_(counters), counters_(std::make_unique<Counter[]>(counters)) {}

  /// Who sleeps when the queue is empty. Before any thread uses the queue.
  void set_parker(Parker* parker) { parker_ = parker; }
  [[nodiscard]] std::uint32_t size() const { return size_; }

  /// Each counter has one producer. `note` travels with the first addition; the consumer reads it after that.
  void set_note(std::uint32_t counter, const void* note) { counters_[counter].note = note; }
  void add(std::uint32_t counter, std::uint32_t amount) {
    Counter& c = counters_[counter];
    if ((c.word.fetch_add(kUnit * amount, std::memory_order_acq_rel) & kListed) != 0) return;
    if ((c.word.fetch_or(kListed, std::memory_order_acq_rel) & kListed) != 0) return;
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    do {
      c.next = first;
    } while (!first_.compare_exchange_weak(first, counter, std::memory_order_seq_cst, std::memory_order_relaxed));
    if (parker_ != nullptr) parker_->wake();
  }

  [[nodiscard]] bool empty() const { return first_.load(std::memory_order_seq_cst) == kNone; }
  /// Consumer only: calls `grown(counter, amount)` for every counter that grew since the last call; false when none.
  template <class Grown>
  bool drain(Grown&& grown) {
    if (first_.load(std::memory_order_relaxed) == kNone) return false;
    std::uint32_t at = first_.exchange(kNone, std::memory_order_acq_rel);
    while (at != kNone) {
      Counter& c = counters_[at];
      const std::uint32_t next = c.next;  // the counter may be listed again right after its mark is cleared
      const std::uint64_t total = c.word.fetch_and(~kListed, std::memory_order_acq_rel) / kUnit;
      const auto amount = static_cast<std::uint32_t>(total - c.seen);
      c.seen = total;
      if (amount > 0) grown(at, amount);
      at = next;
    }
    return true;
  }
  [[nodiscard]] const void* note(std::uint32_t counter) const { return counters_[counter].note; }

  /// Forgets everything. Only while no other thread uses the queue.
  void reset() {
    drain([](std::uint32_t, std::uint32_t) {});
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::uint64_t kListed = 1;
  static constexpr std::uint64_t kUnit = 2;
  struct alignas(kCacheLineBytes) Counter {
    std::atomic<std::uint64_t> word{0};  // twice the total, plus kListed
    const void* note = nullptr;
    std::uint64_t seen = 0;  // consumer's
    std::uint32_t next = kNone;
  };

  std::uint32_t size_;
  std::unique_ptr<Counter[]> counters_;
  Parker* parker_ = nullptr;
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> first_{kNone};
};

class Failure {
 public:
  /// True when this was the first; any thread.
  bool report(Error error) {
    std::uint32_t expected = kNone;
    if (!state_.compare_exchange_strong(expected, kWriting, std::memory_order_acq_rel)) return false;
    error_ = std::move(error);
    state_.store(kSet, std::memory_order_seq_cst);
    return true;
  }
  [[nodiscard]] bool set() const { return state_.load(std::memory_order_seq_cst) == kSet; }
  /// Once set.
  [[nodiscard]] const Error& error() const { return error_; }
  /// By the group's owner while no thread of the group runs; report() may race with it.
  void clear() {
    error_ = Error{};
    state_.store(kNone, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kWriting = 1;
  static constexpr std::uint32_t kSet = 2;
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> state_{kNone};
  Error error_;
};

/// One pause of a spinning thread.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace hocket

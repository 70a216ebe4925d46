// Doorbell: where one rank sleeps, in memory that all ranks of a host map. A sleeper says what it waits for, looks once
// more, and sleeps; who publishes something looks whether the peer sleeps on it. A ring before the sleep is not lost.
// Ownership: the segment. Threading: one sleeper; anybody rings.
// Refuses: sleeping without a deadline. A bell rung for no reason costs a look, so nothing written there does harm.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/queue.h"

namespace hocket {

class Doorbell {
 public:
  /// What a sleeper waits for.
  static constexpr std::uint32_t kBytes = 1;
  static constexpr std::uint32_t kRoom = 2;

  /// Returns after a ring, at the deadline, or early; at once when `ready()`.
  template <class Ready>
  void sleep(std::uint32_t reasons, SteadyTime until, Ready&& ready) {
    lie_down(reasons);
    if (!ready()) wait(reasons, until);
    get_up();
  }
  /// After publishing (sequentially consistent) bytes or room.
  void ring(std::uint32_t reason) {
    if (takes_sleeper(reason)) rouse();
  }

  // The same in parts, for sleepers that sleep elsewhere and ringers that know how to wake them there.
  void lie_down(std::uint32_t reasons) { asleep_.store(reasons, std::memory_order_seq_cst); }
  void get_up() { asleep_.store(0, std::memory_order_relaxed); }
  /// Whether somebody sleeps for that reason, who is to be woken by the caller.
  [[nodiscard]] bool takes_sleeper(std::uint32_t reason) {
    if ((asleep_.load(std::memory_order_seq_cst) & reason) == 0) return false;
    return asleep_.exchange(0, std::memory_order_relaxed) != 0;
  }

 private:
  void wait(std::uint32_t reasons, SteadyTime until);
  void rouse();

  alignas(kCacheLineBytes) std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace hocket

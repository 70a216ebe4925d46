// Spin: how long a waiting rank spins before it sleeps. Spinning pays while the other side runs at the same time; when
// both share a core it only keeps the other one from running. So waits are watched: after kFailuresMax in a row that
// spinning did not end, ranks sleep at once for a number of waits, then try again, more rarely each time it fails.
// Ownership: a driver. Threading: one owner. Refuses: nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace hocket {

class Spin {
 public:
  explicit Spin(std::chrono::nanoseconds most) : most_(most) {}

  /// Of the wait that begins now.
  [[nodiscard]] std::chrono::nanoseconds limit() const {
    return sleeps_left_ > 0 ? std::chrono::nanoseconds(0) : most_;
  }
  /// A wait is over: was it while spinning?
  void ended(bool spinning) {
    if (sleeps_left_ > 0) {
      --sleeps_left_;
      return;
    }
    if (spinning) {
      failures_ = 0;
      sleeps_next_ = kSleepsMin;
      return;
    }
    if (++failures_ < kFailuresMax) return;
    failures_ = kFailuresMax - 1;  // one more failure is enough after the pause
    sleeps_left_ = sleeps_next_;
    sleeps_next_ = std::min(sleeps_next_ * 2, kSleepsMax);
  }

 private:
  static constexpr std::uint32_t kFailuresMax = 3;
  static constexpr std::uint32_t kSleepsMin = 32;
  static constexpr std::uint32_t kSleepsMax = 2048;

  std::chrono::nanoseconds most_;
  std::uint32_t failures_ = 0;
  std::uint32_t sleeps_left_ = 0;
  std::uint32_t sleeps_next_ = kSleepsMin;
};

}  // namespace hocket

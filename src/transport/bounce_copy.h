// BounceCopy: how a rank writes segments into its bounce memory: into the caches, which the reader then reads from, or
// past them. Into the caches is faster while the two cores share one of theirs. Where they are far apart every line
// that the reader still has must be called back first, and stores past the caches take a fifth of the time. Which of
// the two it is changes while a program runs (a virtual machine's cores wander), so copies are timed, one of a few.
// Ownership: numbers only. Threading: one owner. Refuses: nothing; both ways write the same bytes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hocket {

/// Which way is taken next, by how long copies took. Past the caches only where that is far faster: the reader then has
/// to go to memory.
class BounceWay {
 public:
  enum class Way : std::uint8_t { kCached, kPast };

  struct Next {
    Way way;
    bool timed;
  };
  [[nodiscard]] Next next();
  /// That a copy of so many bytes took so long.
  void took(Way way, std::size_t bytes, std::chrono::nanoseconds time);

  /// The way not taken is tried again once in so many copies.
  static constexpr std::uint32_t kTrialEvery = 128;
  static constexpr std::uint32_t kTimedEvery = 4;
  /// How many times as long copies into the caches must take to be given up.
  static constexpr double kFarApart = 2.5;

 private:
  [[nodiscard]] Way better() const;

  std::array<double, 2> ns_per_byte_{};  // smoothed; 0: not tried yet
  std::uint32_t copies_ = 0;
};

class BounceCopy {
 public:
  /// `to` begins a line of the caches.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

 private:
  BounceWay way_;
};

}  // namespace hocket

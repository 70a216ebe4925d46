// The one source of randomness: a seeded, portable generator (splitmix64 steps), same numbers on every platform.
// Ownership: a value; copy it to replay. Threading: one owner.
// Refuses: unseeded use. Not for cryptography.
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace hocket {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound). Requires bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    HOCKET_ASSERT(bound > 0, "bound must be positive");
    // Multiply-shift: bias below 2^-32 for the bounds used here, and no loop.
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// True with the given probability.
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace hocket

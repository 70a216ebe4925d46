// A 128-bit non-cryptographic hash for fingerprints of schedules, topologies and plans.
// Deterministic across platforms (little-endian feed by explicit shifts). Threading: one owner.
// Refuses: use as a secret or for authentication.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace hocket {

struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const Fingerprint&) const = default;
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}{:016x}", high, low); }
};

class Hasher {
 public:
  Hasher& add(std::uint64_t word) {
    high_ = mix(high_ ^ word, 0x9ddfea08eb382d69ULL);
    low_ = mix(low_ + word, 0xc2b2ae3d27d4eb4fULL);
    return *this;
  }
  Hasher& add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    return *this;
  }
  [[nodiscard]] Fingerprint finish() const { return {mix(high_, low_ | 1), mix(low_, high_ | 1)}; }

 private:
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x2545f4914f6cdd1dULL) * b;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }
  std::uint64_t high_ = 0x243f6a8885a308d3ULL;
  std::uint64_t low_ = 0x13198a2e03707344ULL;
};

}  // namespace hocket

// LossReport: what a reader did not take over from a foreign file as it stands.
// Ignored: the file says it, nothing here can hold it. Assumed: the file does not say it (units, latencies, rates).
// Repaired: the file says something that cannot be right as it stands, and the reader went on with something else;
// --strict refuses those. A report keeps the first kLossesMax entries and counts the others by kind.
// Ownership: owns its text. Threading: plain values. Refuses nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

enum class LossKind : std::uint8_t { kIgnored, kAssumed, kRepaired };

[[nodiscard]] std::string_view name_of(LossKind kind);

struct Loss {
  LossKind kind = LossKind::kIgnored;
  std::string where;  // "line 3, column 7", "key 'latency'", "GPU link of gpu0"; empty: the whole file
  std::string what;
  std::string why;
};

/// "line 3: ignored key 'colour' (unknown)".
[[nodiscard]] std::string text_of(const Loss& loss);

class LossReport {
 public:
  static constexpr std::size_t kLossesMax = 64;

  void ignored(std::string where, std::string what, std::string why) {
    add({LossKind::kIgnored, std::move(where), std::move(what), std::move(why)});
  }
  void assumed(std::string where, std::string what, std::string why) {
    add({LossKind::kAssumed, std::move(where), std::move(what), std::move(why)});
  }
  void repaired(std::string where, std::string what, std::string why) {
    add({LossKind::kRepaired, std::move(where), std::move(what), std::move(why)});
  }
  void append(const LossReport& other);

  [[nodiscard]] std::span<const Loss> entries() const { return entries_; }
  [[nodiscard]] std::size_t count(LossKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::size_t total() const;
  /// One line per entry, and one that counts those not kept.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// An error that names the first repair and counts them; nothing when there is none.
  [[nodiscard]] Result<void> refuse_repairs(std::string_view file_name) const;

 private:
  void add(Loss loss);

  std::vector<Loss> entries_;
  std::array<std::size_t, 3> counts_{};
};

}  // namespace hocket

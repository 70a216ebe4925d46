// Secret: what the ranks of one job know and strangers do not. It never travels: a side proves that it has it by the
// HMAC-SHA256 of the other side's fresh nonce. Threading: immutable.
// Refuses: secrets below 16 bytes; never prints one. Runs out of random bytes only when the system does (an Error).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;

[[nodiscard]] Result<Nonce> fresh_nonce();

class Secret {
 public:
  /// From words a user or launcher gave.
  [[nodiscard]] static Result<Secret> from_text(std::string_view text);
  [[nodiscard]] static Result<Secret> random();

  [[nodiscard]] Proof prove(std::span<const std::byte> message) const;
  /// In a time that does not depend on where they differ.
  [[nodiscard]] bool proves(std::span<const std::byte> message, const Proof& proof) const;
  /// For handing it to a child process or a private file.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace hocket

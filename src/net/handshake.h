// Handshake: how two ends of a new connection prove to each other that they belong to one job.
//   listener  -> challenge: greeting, nonce a                     40 bytes
//   connector -> answer: greeting, nonce b, claim, proof          88 bytes   proof: HMAC("connector", a, b, claim)
//   listener  -> verdict: greeting, proof                         40 bytes   proof: HMAC("listener", a, b, claim),
//                                                                            or zeros: the answer proved another secret
// Zeros say no more than a closed connection, but to one of ours: why. Sans-IO: told what arrived, says what to send.
// Only here is an AuthenticatedPeer made. Ownership: keeps the secret's pointer. Threading: one owner. Refuses: any
// other byte, at once; a stranger costs 88 bytes and one HMAC at most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/assert.h"
#include "net/secret.h"

namespace hocket {

/// What a connection is for and who is at its connecting end.
struct Claim {
  enum class Purpose : std::uint32_t { kStore, kLink };
  Purpose purpose = Purpose::kStore;
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;  // connections between the same two ranks
  bool operator==(const Claim&) const = default;
};

/// The few bytes of a message: never more than kMax.
class ShortBytes {
 public:
  static constexpr std::size_t kMax = 128;
  void add(std::span<const std::byte> more) {
    HOCKET_ASSERT(more.size() <= kMax - size_, "a message of the handshake is longer than all of them");
    std::copy(more.begin(), more.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += more.size();
  }
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::span<const std::byte> all() const { return std::span(bytes_).first(size_); }

 private:
  std::array<std::byte, kMax> bytes_{};
  std::size_t size_ = 0;
};

class AuthenticatedPeer {
 public:
  [[nodiscard]] const Claim& claim() const { return claim_; }

 private:
  friend class Handshake;
  explicit AuthenticatedPeer(const Claim& claim) : claim_(claim) {}
  Claim claim_;
};

class Handshake {
 public:
  /// The listening end.
  Handshake(const Secret& secret, const Nonce& nonce);
  /// The connecting end.
  Handshake(const Secret& secret, const Nonce& nonce, const Claim& claim);

  enum class State : std::uint8_t { kPending, kDone, kRefused };
  [[nodiscard]] State state() const { return state_; }
  /// Why it was refused.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Of the listening end, refused: who the connector says to be without knowing the secret. Nobody vouches for it.
  [[nodiscard]] const std::optional<Claim>& unproved() const { return unproved_; }
  /// Once done (the last bytes to send may still be outgoing).
  [[nodiscard]] AuthenticatedPeer peer() const { return AuthenticatedPeer(claim_); }

  [[nodiscard]] std::span<const std::byte> outgoing() const { return out_.all().subspan(out_sent_); }
  void sent(std::size_t bytes) { out_sent_ += bytes; }
  /// The most bytes that may be read now; 0 when nothing is expected.
  [[nodiscard]] std::size_t wanted() const { return expected_ - in_.size(); }
  void received(std::span<const std::byte> bytes);

 private:
  void take_challenge();
  void take_answer();
  void take_verdict();
  void turn_down();
  void refuse(std::string reason);
  [[nodiscard]] ShortBytes statement(std::string_view side) const;

  const Secret* secret_;
  bool listens_;
  Nonce mine_;
  Nonce theirs_{};
  Claim claim_;
  State state_ = State::kPending;
  std::string reason_;
  std::optional<Claim> unproved_;
  ShortBytes out_;
  std::size_t out_sent_ = 0;
  ShortBytes in_;
  std::size_t expected_ = 0;
};

}  // namespace hocket

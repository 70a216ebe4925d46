#include "net/handshake.h"

#include <algorithm>
#include <cstring>

namespace hocket {
namespace {

constexpr std::string_view kGreeting{"hocket\0\1", 8};
constexpr std::size_t kClaimBytes = 16;
constexpr std::size_t kChallengeBytes = kGreeting.size() + sizeof(Nonce);
constexpr std::size_t kAnswerBytes = kGreeting.size() + sizeof(Nonce) + kClaimBytes + sizeof(Proof);
constexpr std::size_t kVerdictBytes = kGreeting.size() + sizeof(Proof);

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::array<std::byte, kClaimBytes> spell(const Claim& claim) {
  std::array<std::byte, kClaimBytes> wire{};
  const std::array<std::uint32_t, 4> words{static_cast<std::uint32_t>(claim.purpose), claim.rank, claim.lane, 0};
  for (std::size_t i = 0; i < wire.size(); ++i) wire[i] = static_cast<std::byte>(words[i / 4] >> (8 * (i % 4)));
  return wire;
}

Claim read_claim(const std::byte* wire) {
  std::array<std::uint32_t, 3> words{};
  for (std::size_t i = 0; i < 12; ++i) words[i / 4] |= std::to_integer<std::uint32_t>(wire[i]) << (8 * (i % 4));
  return {static_cast<Claim::Purpose>(words[0]), words[1], words[2]};
}

}  // namespace

Handshake::Handshake(const Secret& secret, const Nonce& nonce)
    : secret_(&secret), listens_(true), mine_(nonce), expected_(kAnswerBytes) {
  out_.add(bytes_of(kGreeting));
  out_.add(mine_);
}

Handshake::Handshake(const Secret& secret, const Nonce& nonce, const Claim& claim)
    : secret_(&secret), listens_(false), mine_(nonce), claim_(claim), expected_(kChallengeBytes) {}

ShortBytes Handshake::statement(std::string_view side) const {
  ShortBytes text;
  text.add(bytes_of(side));
  text.add(listens_ ? mine_ : theirs_);
  text.add(listens_ ? theirs_ : mine_);
  text.add(spell(claim_));
  return text;
}

void Handshake::refuse(std::string reason) {
  state_ = State::kRefused;
  reason_ = std::move(reason);
  expected_ = in_.size();
  out_.clear();
  out_sent_ = 0;
}

void Handshake::received(std::span<const std::byte> bytes) {
  HOCKET_ASSERT(bytes.size() <= wanted(), "a handshake got more bytes than it asked for");
  in_.add(bytes);
  const std::size_t greeted = std::min(in_.size(), kGreeting.size());
  if (std::memcmp(in_.data(), kGreeting.data(), greeted) != 0) {
    const bool version = greeted == kGreeting.size() && std::memcmp(in_.data(), kGreeting.data(), 6) == 0;
    return refuse(version ? "it speaks another version of the protocol" : "it does not speak hocket's protocol");
  }
  if (in_.size() < expected_) return;
  if (listens_) return take_answer();
  return expected_ == kChallengeBytes && theirs_ == Nonce{} ? take_challenge() : take_verdict();
}

void Handshake::take_challenge() {
  std::memcpy(theirs_.data(), in_.data() + kGreeting.size(), theirs_.size());
  if (theirs_ == Nonce{}) return refuse("its challenge is empty");
  in_.clear();
  expected_ = kVerdictBytes;
  out_.add(bytes_of(kGreeting));
  out_.add(mine_);
  out_.add(spell(claim_));
  out_.add(secret_->prove(statement("connector").all()));
}

void Handshake::take_answer() {
  const std::byte* at = in_.data() + kGreeting.size();
  std::memcpy(theirs_.data(), at, theirs_.size());
  claim_ = read_claim(at + theirs_.size());
  Proof proof{};
  std::memcpy(proof.data(), at + theirs_.size() + kClaimBytes, proof.size());
  const bool spelled_so = std::ranges::equal(spell(claim_), std::span(at + theirs_.size(), kClaimBytes));
  if (!spelled_so || !secret_->proves(statement("connector").all(), proof)) return turn_down();
  if (claim_.purpose != Claim::Purpose::kStore && claim_.purpose != Claim::Purpose::kLink)
    return refuse("it wants something unknown");
  out_.add(bytes_of(kGreeting));
  out_.add(secret_->prove(statement("listener").all()));
  expected_ = in_.size();
  state_ = State::kDone;
}

void Handshake::turn_down() {
  unproved_ = claim_;
  refuse("its secret is another");
  out_.add(bytes_of(kGreeting));
  out_.add(Proof{});
}

void Handshake::take_verdict() {
  Proof proof{};
  std::memcpy(proof.data(), in_.data() + kGreeting.size(), proof.size());
  if (proof == Proof{}) return refuse("its secret is another than ours (HOCKET_SECRET)");
  if (!secret_->proves(statement("listener").all(), proof)) return refuse("it does not know the secret of this job");
  expected_ = in_.size();
  state_ = State::kDone;
}

}  // namespace hocket

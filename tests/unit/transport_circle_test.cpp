// Ranks that wait for each other, and ranks that are late: what signs of life say about them, and when they say
// nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/frame.h"
#include "net/word.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

/// What a rank says in a sign of life.
struct Said {
  std::uint64_t call = 1;
  std::uint64_t beat = 1;
  std::uint64_t waits_for = 0;
  std::uint64_t moved = 0;
};

/// Rank 0 of four, in its first call, in which it receives something from rank 3.
class Listener final : public StreamRank {
 public:
  Listener() : StreamRank(0, {"rank 0", "rank 1", "rank 2", "rank 3"}) {
    MessageProgram program;
    program.what = {{CollectiveKind::kAllReduce, 4, 0}, 1, DataType::kF32, ReduceOp::kSum};
    program.ops.push_back({MessageOp::Role::kReceive, {.op = 0, .match = 1, .peer = 3}});
    program_ = load(std::move(program)).value();
    begin(*program_);
  }
  bool poll(TransportEvents& /*events*/) override { return false; }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}

  void next_call() {
    end();
    begin(*program_);
  }

  void hear(std::uint32_t peer, const Said& said, SteadyTime when = steady_clock::now()) {
    std::array<std::byte, kFrameHeaderBytes + 24> bytes{};
    encode_header({.kind = FrameKind::kPing, .sequence = said.call, .length = 24, .fingerprint = {}},
                  HeaderBytes(bytes.data(), kFrameHeaderBytes));
    put_word(bytes.data() + kFrameHeaderBytes, said.call);
    put_word(bytes.data() + kFrameHeaderBytes + 8, said.beat << 32 | said.waits_for);
    put_word(bytes.data() + kFrameHeaderBytes + 16, said.moved);
    take(peer, bytes, when);
  }
  /// At two beats without anything in between.
  void hear_twice(std::uint32_t peer, std::uint64_t waits_for, std::uint64_t first_beat = 1) {
    hear(peer, {.beat = first_beat, .waits_for = waits_for});
    hear(peer, {.beat = first_beat + 1, .waits_for = waits_for});
  }
  void beat_twice(std::uint32_t waits_for) {
    beat(waits_for);
    beat(waits_for);
  }
  /// The first bytes of a call that the peer has begun: something has come.
  void get_part(std::uint32_t peer) {
    encode_call(
        {.number = 1, .what = {{CollectiveKind::kAllReduce, 4, 0}, 1, DataType::kF32, ReduceOp::kSum}, .plan = {}},
        hello_);
    std::array<std::byte, kFrameHeaderBytes + kCallBytes> bytes{};
    encode_header({.kind = FrameKind::kHello, .sequence = 1, .length = kCallBytes, .fingerprint = {}},
                  HeaderBytes(bytes.data(), kFrameHeaderBytes));
    std::copy(hello_.begin(), hello_.end(), bytes.begin() + kFrameHeaderBytes);
    take(peer, bytes, steady_clock::now());
  }
  /// Without what is said about silent ranks.
  [[nodiscard]] std::string circle(std::uint32_t waits_for) const {
    const std::string text = late_ranks(waits_for, seconds(1));
    return text.find("waits for") == std::string::npos ? "" : text.substr(0, text.find(';'));
  }

 private:
  void take(std::uint32_t peer, std::span<const std::byte> left, SteadyTime when) {
    while (!left.empty()) {
      std::size_t moved = 0;
      for (const std::span<std::byte> place : room(peer)) {
        const std::size_t part = std::min(place.size(), left.size() - moved);
        std::copy_n(left.begin() + static_cast<std::ptrdiff_t>(moved), part, place.begin());
        moved += part;
      }
      ASSERT_GT(moved, 0U);
      left = left.subspan(moved);
      received(peer, moved, nullptr, when);
    }
  }

  std::unique_ptr<LoadedProgram> program_;
  std::array<std::byte, kCallBytes> hello_{};
};

TEST(TransportCircle, ACircleIsNamedFromWhereItBegins) {
  Listener listener;
  listener.beat_twice(1);
  listener.hear_twice(1, 2);
  listener.hear_twice(2, 0);
  EXPECT_EQ(listener.circle(1), "rank 0 waits for rank 1, that for rank 2, that for rank 0");
  listener.hear_twice(2, 3, 3);
  listener.hear_twice(3, 2);
  EXPECT_EQ(listener.circle(1), "rank 2 waits for rank 3, that for rank 2");
}

TEST(TransportCircle, WhatIsNoCircleIsNotCalledOne) {
  Listener listener;
  listener.beat_twice(1);
  EXPECT_EQ(listener.circle(1), "");  // nobody was heard
  listener.hear_twice(1, 1);          // waits for nobody
  EXPECT_EQ(listener.circle(1), "");
  EXPECT_EQ(listener.circle(0), "");
  for (const std::uint64_t beat : {3U, 4U}) listener.hear(1, {.call = 0, .beat = beat});  // of the call before
  EXPECT_EQ(listener.circle(1), "");
  const SteadyTime before = steady_clock::now() - seconds(5);
  for (const std::uint64_t beat : {5U, 6U}) listener.hear(1, {.beat = beat}, before);  // has said nothing since
  EXPECT_EQ(listener.circle(1), "");
  listener.hear_twice(1, 0, 7);
  EXPECT_EQ(listener.circle(1), "rank 0 waits for rank 1, that for rank 0");
}

TEST(TransportCircle, RanksThatWaitForEachOtherForAMomentAreNone) {
  Listener listener;
  listener.beat_twice(1);
  listener.hear(1, {.beat = 1});
  EXPECT_EQ(listener.circle(1), "");  // said once
  listener.hear(1, {.beat = 1});
  EXPECT_EQ(listener.circle(1), "");  // the same beat, said again to wake this rank
  listener.hear(1, {.beat = 2, .moved = 7});
  EXPECT_EQ(listener.circle(1), "");  // it has got something in between
  listener.hear(1, {.beat = 3, .waits_for = 2, .moved = 7});
  listener.hear(1, {.beat = 4, .moved = 7});
  EXPECT_EQ(listener.circle(1), "");  // it has waited for another in between
  for (int said = 0; said < 2; ++said) {
    listener.hear(1, {.beat = 5, .moved = 7});
    EXPECT_EQ(listener.circle(1), "rank 0 waits for rank 1, that for rank 0");
  }
}

TEST(TransportCircle, ARankThatIsBeingServedIsInNone) {
  Listener listener;
  listener.hear_twice(3, 0);
  listener.beat(3);
  EXPECT_EQ(listener.circle(3), "");  // waits for one beat only
  listener.beat(3);
  EXPECT_EQ(listener.circle(3), "rank 0 waits for rank 3, that for rank 0");
  EXPECT_EQ(listener.circle(2), "");  // waits for another by now
  listener.get_part(3);
  EXPECT_EQ(listener.circle(3), "");
  listener.beat_twice(3);
  EXPECT_EQ(listener.circle(3), "rank 0 waits for rank 3, that for rank 0");
}

TEST(TransportLate, WhereARankWasSeenLastIsSaidOnlyWhereThatIsKnown) {
  Listener listener;
  listener.next_call();
  const SteadyTime before = steady_clock::now() - seconds(5);
  listener.hear(1, {.call = 1}, before);  // no part of its plan is with rank 0: it may be anywhere by now
  listener.hear(2, {.call = 2}, before);
  listener.hear(3, {.call = 1}, before);
  const std::string said = listener.late_ranks(3, seconds(1));
  EXPECT_NE(said.find("no progress from rank 1: silent for 5 s; "), std::string::npos) << said;
  EXPECT_NE(said.find("no progress from rank 2: silent for 5 s, last seen in call 2"), std::string::npos) << said;
  EXPECT_NE(said.find("no progress from rank 3: silent for 5 s, last seen in call 1"), std::string::npos) << said;
}

}  // namespace
}  // namespace hocket

// Ranks that wait for each other: what signs of life say about it, and when they say nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/frame.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

/// Rank 0 of four, in its first call.
class Listener final : public StreamRank {
 public:
  Listener() : StreamRank(0, {"rank 0", "rank 1", "rank 2", "rank 3"}) {
    MessageProgram program;
    program.what = {{CollectiveKind::kAllReduce, 4, 0}, 1, DataType::kF32, ReduceOp::kSum};
    program_ = load(std::move(program)).value();
    begin(*program_);
  }
  bool poll(TransportEvents& /*events*/) override { return false; }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}

  void hear(std::uint32_t peer, std::uint64_t call, std::uint64_t waits_for,
            SteadyTime when = std::chrono::steady_clock::now()) {
    std::array<std::byte, kFrameHeaderBytes + 16> bytes{};
    encode_header({.kind = FrameKind::kPing, .sequence = call, .length = 16, .fingerprint = {}},
                  HeaderBytes(bytes.data(), kFrameHeaderBytes));
    bytes[kFrameHeaderBytes] = static_cast<std::byte>(call);
    bytes[kFrameHeaderBytes + 8] = static_cast<std::byte>(waits_for);
    std::span<const std::byte> left = bytes;
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
  /// Without what is said about silent ranks.
  [[nodiscard]] std::string circle(std::uint32_t waits_for) const {
    const std::string text = late_ranks(waits_for);
    return text.find("waits for") == std::string::npos ? "" : text.substr(0, text.find(';'));
  }

 private:
  std::unique_ptr<LoadedProgram> program_;
};

TEST(TransportCircle, ACircleIsNamedFromWhereItBegins) {
  Listener listener;
  listener.hear(1, 1, 2);
  listener.hear(2, 1, 0);
  EXPECT_EQ(listener.circle(1), "rank 0 waits for rank 1, that for rank 2, that for rank 0");
  listener.hear(2, 1, 3);
  listener.hear(3, 1, 2);
  EXPECT_EQ(listener.circle(1), "rank 2 waits for rank 3, that for rank 2");
}

TEST(TransportCircle, WhatIsNoCircleIsNotCalledOne) {
  Listener listener;
  EXPECT_EQ(listener.circle(1), "");  // nobody was heard
  listener.hear(1, 1, 1);             // waits for nobody
  EXPECT_EQ(listener.circle(1), "");
  EXPECT_EQ(listener.circle(0), "");
  listener.hear(1, 0, 0);  // of the call before
  EXPECT_EQ(listener.circle(1), "");
  listener.hear(1, 1, 0, std::chrono::steady_clock::now() - std::chrono::seconds(5));  // has said nothing since
  EXPECT_EQ(listener.circle(1), "");
  listener.hear(1, 1, 0);
  EXPECT_EQ(listener.circle(1), "rank 0 waits for rank 1, that for rank 0");
}

}  // namespace
}  // namespace hocket

#include "net/frame.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hocket {
namespace {

std::vector<std::byte> sample(std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(length);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return encode({.kind = FrameKind::kSegment, .op = 7, .sequence = seed, .segment = 3, .fingerprint = {5, 6}}, bytes);
}

TEST(TransportFrame, SurvivesTheRoundTrip) {
  for (std::size_t length = 0; length < 40; ++length) {
    const auto wire = sample(length, length);
    const auto frame = decode(wire);
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->header.kind, FrameKind::kSegment);
    EXPECT_EQ(frame->header.op, 7U);
    EXPECT_EQ(frame->header.sequence, length);
    EXPECT_EQ(frame->header.segment, 3U);
    EXPECT_EQ(frame->header.length, length);
    EXPECT_EQ(frame->header.fingerprint, (Fingerprint{5, 6}));
    EXPECT_TRUE(std::equal(frame->bytes.begin(), frame->bytes.end(), wire.begin() + kFrameHeaderBytes));
  }
}

TEST(TransportFrame, EveryFlippedBitIsFound) {
  const auto good = sample(29, 1);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_FALSE(decode(bad).has_value()) << "bit " << bit;
  }
}

TEST(TransportFrame, EveryOtherLengthIsRefused) {
  const auto good = sample(29, 2);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(decode(std::span(good).first(length)).has_value()) << length;
  }
  auto longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer).has_value());
}

}  // namespace
}  // namespace hocket

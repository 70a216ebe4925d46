// Frames on a stream that comes in parts of any size: what was pushed comes out, and damage is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/random.h"
#include "net/frame_stream.h"

namespace hocket {
namespace {

std::vector<std::byte> payload_of(std::uint32_t index, std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(index * 31 + i);
  return bytes;
}

/// Frames of random lengths through a pipe in random parts; the reader leaves every tenth header lying for a while, and
/// drops every fifth payload.
void pass_frames(std::uint64_t seed) {
  Random random(seed);
  std::deque<std::vector<std::byte>> payloads;
  FrameWriter writer;
  FrameReader reader;
  std::deque<std::byte> pipe;
  std::uint32_t pushed = 0;
  std::uint32_t sent = 0;
  std::uint32_t read = 0;
  std::vector<std::byte> into;
  constexpr std::uint32_t kFrames = 60;
  while (read < kFrames) {
    if (pushed < kFrames && !writer.full() && random.chance(0.4)) {
      payloads.push_back(payload_of(pushed, random.below(random.chance(0.2) ? 40'000 : 200)));
      FrameHeader header{.kind = FrameKind::kSegment, .op = pushed};
      header.length = static_cast<std::uint32_t>(payloads.back().size());
      writer.push(header, payloads.back().data(), pushed++);
    }
    std::array<std::span<const std::byte>, 6> parts;
    const std::size_t count = writer.gather(parts);
    std::size_t left = random.below(3000);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t part = std::min(left - moved, parts[i].size());
      pipe.insert(pipe.end(), parts[i].begin(), parts[i].begin() + static_cast<std::ptrdiff_t>(part));
      moved += part;
    }
    writer.sent(moved, [&](FrameWriter::Token token) { EXPECT_EQ(token, sent++); });
    left = std::min<std::size_t>(random.below(3000), pipe.size());
    moved = 0;
    for (const std::span<std::byte> room : reader.room()) {
      const std::size_t part = std::min(left - moved, room.size());
      std::copy_n(pipe.begin(), part, room.begin());
      pipe.erase(pipe.begin(), pipe.begin() + static_cast<std::ptrdiff_t>(part));
      moved += part;
    }
    reader.received(moved);
    for (auto step = reader.next(); step != FrameReader::Step::kMore; step = reader.next()) {
      ASSERT_NE(step, FrameReader::Step::kDamaged);
      if (step == FrameReader::Step::kHeader) {
        if (random.chance(0.1)) break;
        into.assign(reader.header().length, std::byte{0xee});
        reader.header().op % 5 == 4 ? reader.skip() : reader.place(into);
        continue;
      }
      ASSERT_EQ(reader.header().op, read);
      if (read % 5 != 4) {
        ASSERT_EQ(into, payload_of(read, into.size()));
      }
      ++read;
    }
  }
  EXPECT_TRUE(writer.empty() || pushed > sent);
}

TEST(NetFrameStream, WhatGoesInComesOut) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    pass_frames(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(NetFrameStream, EveryFlippedBitOfAHeaderIsFound) {
  std::array<std::byte, kFrameHeaderBytes> good{};
  encode_header(
      {.kind = FrameKind::kSegment, .op = 3, .sequence = 9, .segment = 1, .length = 100, .fingerprint = {5, 6}}, good);
  ASSERT_TRUE(decode_header(good));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_FALSE(decode_header(bad)) << "bit " << bit;
  }
}

TEST(NetFrameStream, AFailureKeepsOnlyWhatHasBegun) {
  const auto payload = payload_of(0, 100);
  FrameWriter writer;
  for (FrameWriter::Token t = 0; t < 3; ++t)
    writer.push({.kind = FrameKind::kSegment, .length = 100}, payload.data(), t);
  writer.sent(60, [](FrameWriter::Token) { FAIL(); });
  std::vector<std::byte> copy;
  writer.keep_started(copy, 99);
  EXPECT_EQ(copy, payload);
  std::vector<FrameWriter::Token> done;
  writer.sent(kFrameHeaderBytes + 100 - 60, [&](FrameWriter::Token token) { done.push_back(token); });
  EXPECT_EQ(done, std::vector<FrameWriter::Token>{99});
  EXPECT_TRUE(writer.empty());
}

}  // namespace
}  // namespace hocket

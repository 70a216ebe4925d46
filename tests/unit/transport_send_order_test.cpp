// The order in which a connection carries what several messages have to send: the rule of SendQueue, which the
// simulator follows too, and no more given to the stream than can be overtaken soon.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/frame.h"
#include "schedule/send_queue.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

TEST(SendQueue, LowestSegmentThenLowestOp) {
  SendQueue queue;
  queue.reserve(3);
  queue.push({0, 7});
  queue.push({0, 3});
  queue.push({2, 1});
  EXPECT_EQ(queue.lowest().op, 3U);
  queue.replace_lowest({1, 3}, true);
  EXPECT_EQ(queue.lowest().op, 7U);
  queue.replace_lowest({}, false);
  EXPECT_EQ(queue.lowest().op, 3U);
  queue.replace_lowest({}, false);
  EXPECT_EQ(queue.lowest().op, 1U);
  queue.replace_lowest({}, false);
  EXPECT_TRUE(queue.empty());
}

/// A stream into nothing: takes everything that is to be sent and notes the segments.
class Sink final : public StreamRank {
 public:
  Sink() : StreamRank(0, {"rank 0", "rank 1"}) {}
  bool poll(TransportEvents& /*events*/) override { return false; }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}

  /// (op, segment) of the frames that one gathering call would send.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> send_once() {
    std::array<std::span<const std::byte>, 64> parts;
    const std::size_t count = gather(1, parts);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> segments;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      bytes += parts[i].size();
      if (parts[i].size() != kFrameHeaderBytes) continue;
      const auto header = decode_header(ConstHeaderBytes(parts[i].data(), kFrameHeaderBytes));
      if (header && header->kind == FrameKind::kSegment) segments.emplace_back(header->op, header->segment);
    }
    sent(1, bytes, nullptr);
    return segments;
  }
};

MessageProgram two_sends(std::int64_t segment_bytes) {
  MessageProgram program;
  program.what = {{CollectiveKind::kAllReduce, 2, 0}, 6 * segment_bytes / 4, DataType::kF32, ReduceOp::kSum};
  for (const OpId op : {0U, 1U}) {
    MessageOp message{.role = MessageOp::Role::kSend, .end = {}};
    message.end.op = op;
    message.end.peer = 1;
    message.end.match = 10 + op;
    message.end.cut = Cut(3 * segment_bytes, 4, 3);
    program.ops.push_back(message);
  }
  return program;
}

TEST(StreamSendOrder, SegmentsOfMessagesTakeTurns) {
  Sink sink;
  const auto loaded = sink.load(two_sends(400));
  ASSERT_TRUE(loaded);
  sink.begin(**loaded);
  const std::vector<std::byte> memory(1200);
  const auto& ops = two_sends(400).ops;
  sink.offer(ops[1].end, {0, 3}, memory.data());
  sink.offer(ops[0].end, {0, 3}, memory.data());
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> turns{{10, 0}, {11, 0}, {10, 1},
                                                                   {11, 1}, {10, 2}, {11, 2}};
  EXPECT_EQ(sink.send_once(), turns);
  EXPECT_TRUE(sink.flushed());
}

TEST(StreamSendOrder, LargeSegmentsAreGivenOneByOne) {
  constexpr std::int64_t kLarge = 128 << 10;
  Sink sink;
  const auto loaded = sink.load(two_sends(kLarge));
  ASSERT_TRUE(loaded);
  sink.begin(**loaded);
  const std::vector<std::byte> memory(3 * kLarge);
  const auto& ops = two_sends(kLarge).ops;
  sink.offer(ops[1].end, {0, 3}, memory.data());
  EXPECT_EQ(sink.send_once().size(), 1U);
  // What became ready meanwhile goes before the later segments of what was offered first.
  sink.offer(ops[0].end, {0, 1}, memory.data());
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> next{{10, 0}};
  EXPECT_EQ(sink.send_once(), next);
}

}  // namespace
}  // namespace hocket

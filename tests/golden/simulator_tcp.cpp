// The TCP model against closed forms: how chunks of connections share links.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/transfers.h"

namespace hocket {
namespace {

using test::bind;
using test::kUs;
using test::make;
using test::path;
using test::picos;
using test::run;
using test::transfer;

constexpr std::int64_t kChunk = 10000;  // 10 us at 1 GB/s
constexpr SimulateOptions kTcp{.model = NetworkModel::kTcp, .tcp_chunk = Bytes{kChunk}};

TEST(TcpModel, ChunksGoFromLinkToLinkWhole) {
  EXPECT_EQ(picos(transfer(10 * kChunk), path({{1e9, 1e-6}}), kTcp), (100 + 1) * kUs);
  EXPECT_EQ(picos(transfer(10 * kChunk), path({{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 1e-6}}), kTcp), (12 * 10 + 3) * kUs);
  // The last chunk has half the bytes, and waits for the one before it.
  EXPECT_EQ(picos(transfer(10 * kChunk + kChunk / 2), path({{1e9, 1e-6}, {1e9, 1e-6}}), kTcp), (105 + 10 + 2) * kUs);
  EXPECT_EQ(picos(transfer(0), path({{1e9, 1e-6}, {1e9, 1e-6}}), kTcp), 2 * kUs);
  const SimulateOptions loaded{
      .model = NetworkModel::kTcp, .tcp_chunk = Bytes{kChunk}, .per_message_overhead = Seconds{5e-6}};
  EXPECT_EQ(picos(transfer(10 * kChunk, 5 * kChunk), path({{1e9, 1e-6}}), loaded), (2 * (50 + 5) + 1) * kUs);
}

/// Rank 0 sends all it has to 1 and to 2.
Plan two_from_one(std::int64_t bytes) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {}, "two");
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (const std::uint32_t to : {1U, 2U}) {
    builder.send(0, to, {Buffer::kInput, 0});
    builder.recv(to, 0, {Buffer::kOutput, 0});
  }
  return bind(std::move(builder), bytes);
}

TEST(TcpModel, ConnectionsOfARankShareItsLinkEvenly) {
  // Two chunks of each in turns: twenty on the first link, the last of them on the second too.
  const SimulationResult result = run(two_from_one(10 * kChunk), make("line:3", 1e9, 1e-6), kTcp);
  EXPECT_EQ(result.time.count, (20 * 10 + 10 + 2) * kUs);
}

TEST(TcpModel, SegmentsOfAConnectionGoInTurns) {
  // One connection carries both messages: the first segments of both before the second of any, as in a message model.
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {1, 3, {1, 1, 1}, false}, "turns");
  builder.copy(0, {Buffer::kInput, 0, 3}, {Buffer::kOutput, 0, 3});
  for (const PieceRange piece : {PieceRange{Buffer::kInput, 0, 2}, PieceRange{Buffer::kInput, 2, 1}}) {
    builder.send(0, 1, piece);
    builder.recv(1, 0, {Buffer::kOutput, piece.piece, piece.count});
  }
  SimulateOptions options = kTcp;
  options.timeline = true;
  const SimulationResult result = run(bind(std::move(builder), 6 * kChunk, kChunk), make("full:2", 1e9, 0), options);
  std::vector<OpId> order;
  order.reserve(result.timeline.size());
  for (const LinkInterval& bar : result.timeline) order.push_back(bar.op);
  EXPECT_EQ(order, (std::vector<OpId>{1, 2, 1, 2, 1, 1}));
}

TEST(TcpModel, WhatIsForwardedCrowdsOutWhatBeginsThere) {
  // Ranks 0 and 1 send rank 2 a hundred chunks each; both go over the link from 1 to 2. Those of rank 0 come one after
  // another and queue, of rank 1's no more than two wait: while rank 0 sends, at most a quarter of the link is rank
  // 1's.
  ScheduleBuilder builder({CollectiveKind::kReduce, 3, 2}, {}, "crowd");
  builder.copy(2, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (const std::uint32_t from : {0U, 1U}) {
    builder.send(from, 2, {Buffer::kInput, 0});
    builder.recv_reduce(2, from, {Buffer::kOutput, 0}, {Buffer::kOutput, 0});
  }
  const Topology line = make("line:3", 1e9, 1e-6);
  SimulateOptions options = kTcp;
  options.timeline = true;
  const SimulationResult result = run(bind(std::move(builder), 100 * kChunk), line, options);
  EXPECT_EQ(result.time.count, (200 * 10 + 1) * kUs);
  std::int64_t own = 0;
  std::int64_t forwarded = 0;
  for (const LinkInterval& bar : result.timeline) {
    const Link& link = line.link(bar.link);
    if (link.from != 1 || link.to != 2 || bar.end.count > 100 * 10 * kUs) continue;
    ++(bar.op == 0 ? forwarded : own);
  }
  EXPECT_EQ(own + forwarded, 100);
  EXPECT_GE(forwarded, 75);
}

// It would take minutes and more.
TEST(TcpModel, MoreChunksThanCanBeSimulatedAreRefused) {
  const Topology three = path({{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 1e-6}});
  const SimulateOptions options{.model = NetworkModel::kTcp, .tcp_chunk = Bytes{8192}};
  const Result<SimulationResult> result = simulate(transfer(std::int64_t{1} << 40), three, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kResourceExhausted);
  EXPECT_NE(result.error().text.find(" of 1TiB: chunks of 8KiB would enter links 402653184 times, the tcp model "
                                     "simulates at most 268435456"),
            std::string::npos)
      << result.error().text;
}

}  // namespace
}  // namespace hocket

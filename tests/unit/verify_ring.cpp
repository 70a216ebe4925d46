// The verifier on a hand-made ring all-reduce: proved, and each kind of damage named.
#include <gtest/gtest.h>

#include "schedule/builder.h"
#include "verify/verify.h"

namespace hocket {
namespace {

constexpr auto kIn = Buffer::kInput;
constexpr auto kOut = Buffer::kOutput;

/// One-direction ring, one piece per rank: reduce-scatter, then all-gather.
ScheduleBuilder ring(std::uint32_t n, std::uint32_t skip_rank = kNoOp, std::uint32_t doubled_rank = kNoOp) {
  ScheduleBuilder builder({CollectiveKind::kAllReduce, n, 0}, {1, n, {}, false}, "test ring");
  for (std::uint32_t r = 0; r < n; ++r) {
    builder.reserve(r, std::size_t{4} * n - 4);
    const std::uint32_t next = (r + 1) % n;
    const std::uint32_t before = (r + n - 1) % n;
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      const std::uint32_t out = (r + n - s) % n;
      const std::uint32_t in = (r + n - s - 1) % n;
      builder.send(r, next, {s == 0 ? kIn : kOut, out}, {.step = s});
      if (r == skip_rank && s == 0) {
        builder.recv(r, before, {kOut, in}, {.step = s});
      } else {
        builder.recv_reduce(r, before, {kIn, in}, {kOut, in}, {.step = s});
      }
      if (r == doubled_rank && s == 0) builder.reduce(r, {kIn, in}, {kOut, in}, {.step = s});
    }
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      builder.send(r, next, {kOut, (r + 1 + n - s) % n}, {.step = n - 1 + s});
      builder.recv(r, before, {kOut, (r + n - s) % n}, {.step = n - 1 + s});
    }
  }
  return builder;
}

Verification check(ScheduleBuilder builder) {
  Result<Schedule> schedule = std::move(builder).finish();
  EXPECT_TRUE(schedule.has_value()) << (schedule ? "" : schedule.error().text);
  return verify(std::make_shared<const Schedule>(std::move(*schedule)));
}

TEST(Verify, RingIsProvedInPlaceAndNeedsNoQueue) {
  for (const std::uint32_t n : {2U, 3U, 4U, 7U, 65U}) {
    const Verification result = check(ring(n));
    ASSERT_TRUE(result.proved()) << n << ": " << result.findings.front().text;
    EXPECT_TRUE(result.verified->in_place());
    EXPECT_EQ(result.verified->safe_depth(), 0U);
    std::uint32_t completing = 0;
    for (OpId id = 0; id < result.verified->schedule().ops().size(); ++id)
      completing += result.verified->completes(id) ? 1 : 0;
    EXPECT_EQ(completing, n);
  }
}

TEST(Verify, SkippedContributionIsMissing) {
  const Verification result = check(ring(5, 2));
  ASSERT_FALSE(result.proved());
  EXPECT_EQ(result.findings.front().kind, FindingKind::kMissing);
  EXPECT_NE(result.findings.front().text.find("lacks the contribution of rank 2"), std::string::npos)
      << result.findings.front().text;
}

TEST(Verify, DoubledContributionIsNamed) {
  const Verification result = check(ring(5, kNoOp, 3));
  ASSERT_FALSE(result.proved());
  EXPECT_EQ(result.findings.front().kind, FindingKind::kDoubled);
  EXPECT_NE(result.findings.front().text.find("of rank 3 twice"), std::string::npos) << result.findings.front().text;
}

TEST(Verify, MissingSendNamesTheBlockedReceiver) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {}, "test");
  builder.copy(0, {kIn, 0}, {kOut, 0});
  builder.recv(1, 0, {kOut, 0});
  const Verification result = check(std::move(builder));
  ASSERT_FALSE(result.proved());
  EXPECT_EQ(result.findings.front().kind, FindingKind::kUnmatched);
  EXPECT_NE(result.findings.front().text.find("rank 1 never gets this data"), std::string::npos);
}

TEST(Verify, UnorderedWriteIsAHazard) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {}, "test");
  builder.state_dependencies_by_hand();
  builder.copy(0, {kIn, 0}, {kOut, 0});
  builder.send(0, 1, {kIn, 0});
  builder.send(0, 1, {kIn, 0}, {.channel = 1});
  builder.recv(1, 0, {kOut, 0});
  builder.recv(1, 0, {kOut, 0}, {.channel = 1});
  const Verification result = check(std::move(builder));
  ASSERT_FALSE(result.proved());
  EXPECT_EQ(result.findings.front().kind, FindingKind::kHazard);
}

TEST(Verify, CycleIsPrinted) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {}, "test");
  builder.set_scratch_pieces(1);
  builder.copy(0, {kIn, 0}, {kOut, 0});
  const BuilderOp got = builder.recv(0, 1, {Buffer::kScratch, 0});
  const BuilderOp sent = builder.send(0, 1, {kOut, 0});
  builder.depend(sent, got);
  builder.recv(1, 0, {kOut, 0});
  builder.send(1, 0, {kOut, 0});
  const Verification result = check(std::move(builder));
  ASSERT_FALSE(result.proved());
  EXPECT_EQ(result.findings.front().kind, FindingKind::kDeadlock);
  EXPECT_NE(result.findings.front().text.find("waits for itself"), std::string::npos);
}

/// Rank 1 takes the second of two messages of one connection before the first: FIFO order can never satisfy that.
TEST(Verify, CrossedConnectionsNeedDepth) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {1, 2, {}, false}, "test");
  builder.copy(0, {kIn, 0, 2}, {kOut, 0, 2});
  builder.send(0, 1, {kIn, 0}, {.channel = 0});
  const BuilderOp second = builder.send(0, 1, {kIn, 1}, {.channel = 1});
  builder.depend(second, {0, 1});
  const BuilderOp early = builder.recv(1, 0, {kOut, 1}, {.channel = 1});
  const BuilderOp late = builder.recv(1, 0, {kOut, 0}, {.channel = 0});
  builder.depend(late, early);
  const Verification result = check(std::move(builder));
  ASSERT_TRUE(result.proved()) << result.findings.front().text;
  EXPECT_EQ(result.verified->safe_depth(), 1U);
}

TEST(Verify, InPlaceIsDeniedWhenInputIsReadAfterOutputWasWritten) {
  ScheduleBuilder builder({CollectiveKind::kAllReduce, 2, 0}, {}, "test");
  builder.state_dependencies_by_hand();
  for (std::uint32_t r = 0; r < 2; ++r) {
    const BuilderOp sum = builder.recv_reduce(r, 1 - r, {kIn, 0}, {kOut, 0});
    const BuilderOp sent = builder.send(r, 1 - r, {kIn, 0});
    (void)sum;
    (void)sent;
  }
  const Verification result = check(std::move(builder));
  ASSERT_TRUE(result.proved()) << result.findings.front().text;
  EXPECT_FALSE(result.verified->in_place());
}

}  // namespace
}  // namespace hocket

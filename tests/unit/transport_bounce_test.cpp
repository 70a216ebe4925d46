// Memory through which segments bounce: which slots of it are given out, and that long segments go through it, or where
// they are too long for that from the memory of their sender.
#include <gtest/gtest.h>

#include <atomic>

#include "algorithms/algorithm.h"
#include "base/random.h"
#include "engine/rank_driver.h"
#include "net/frame.h"
#include "net/word.h"
#include "planner/planner.h"
#include "support/connected_ranks.h"
#include "support/small_schedules.h"
#include "topology/spec.h"
#include "transport/bounce_copy.h"
#include "transport/bounce_slots.h"
#include "transport/shm/shm_rank.h"

namespace hocket {
namespace {

TEST(TransportBounce, SlotsFollowOneAnotherAndComeRoundAgain) {
  BounceSlots slots(128, 64, 3);
  EXPECT_EQ(slots.offset(*slots.take()), 128U);
  EXPECT_EQ(slots.offset(*slots.take()), 192U);
  slots.give_back(0);
  EXPECT_EQ(slots.take(), 2) << "what came back first is used last";
  EXPECT_EQ(slots.take(), 0);
  EXPECT_FALSE(slots.take());
  slots.give_back(2);  // not the next one
  EXPECT_FALSE(slots.take());
  slots.give_back(1);
  EXPECT_EQ(slots.take(), 1);
  EXPECT_EQ(word_at(slots.word(1).data()), 192U);
  EXPECT_FALSE(BounceSlots().take());
}

TEST(TransportBounce, ASlotIsFreeWhenAllItsReadersHaveGivenItBack) {
  BounceSlots slots(0, 64, 1);
  const auto slot = slots.take();
  slots.share(*slot);
  slots.share(*slot);
  slots.give_back(*slot);
  slots.give_back(*slot);
  EXPECT_FALSE(slots.take());
  slots.give_back(*slot);
  EXPECT_TRUE(slots.take());
}

/// How many of so many copies go past the caches, while copies take so many nanoseconds a byte either way.
struct Costs {
  double cached;
  double past;
};
int copies_past(BounceWay& way, int copies, const Costs& costs) {
  int past = 0;
  for (int i = 0; i < copies; ++i) {
    const auto [taken, timed] = way.next();
    const bool is_past = taken == BounceWay::Way::kPast;
    const double each = is_past ? costs.past : costs.cached;
    if (timed) way.took(taken, 100'000, std::chrono::nanoseconds(static_cast<std::int64_t>(each * 100'000)));
    past += is_past ? 1 : 0;
  }
  return past;
}

TEST(TransportBounce, CopiesGoPastTheCachesWhileThatIsFarFaster) {
  constexpr int kMany = 100 * BounceWay::kTrialEvery;
  constexpr Costs kNear{0.08, 0.12};
  constexpr Costs kFar{0.8, 0.1};
  BounceWay way;
  EXPECT_EQ(copies_past(way, kMany, kNear), kMany / BounceWay::kTrialEvery);  // trials only
  EXPECT_GT(copies_past(way, 64, kFar), 16);
  EXPECT_EQ(copies_past(way, kMany, kFar), kMany - kMany / BounceWay::kTrialEvery);
  copies_past(way, 32 * BounceWay::kTrialEvery, kNear);
  EXPECT_EQ(copies_past(way, kMany, kNear), kMany / BounceWay::kTrialEvery);
}

TEST(TransportBounce, ACopyThatWasInterruptedChangesNothing) {
  BounceWay way;
  copies_past(way, 10 * BounceWay::kTrialEvery, {0.1, 0.1});
  way.took(BounceWay::Way::kCached, 1, std::chrono::seconds(1));
  EXPECT_EQ(copies_past(way, BounceWay::kTrialEvery, {0.1, 0.1}), 1);
}

TEST(TransportBounce, BothWaysWriteTheSameBytes) {
  Random random(1);
  BounceCopy copy;
  std::vector<std::byte> from(5000);
  for (std::byte& b : from) b = static_cast<std::byte>(random.below(256));
  for (std::uint32_t i = 0; i < 4 * BounceWay::kTrialEvery; ++i) {
    const std::size_t bytes = random.below(4000);
    const std::size_t begin = random.below(1000);
    alignas(64) std::array<std::byte, 4064> to{};
    copy.copy(to.data(), from.data() + begin, bytes);
    ASSERT_TRUE(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(bytes),
                           from.begin() + static_cast<std::ptrdiff_t>(begin)));
    ASSERT_EQ(to[bytes], std::byte{});
  }
}

/// Rank 0 of four, whose streams lead nowhere: it sends the same bytes to each of the others, by ops 0 to 2.
class Bouncer final : public StreamRank {
 public:
  static constexpr std::int64_t kBytes = 256;

  Bouncer() : StreamRank(0, {"rank 0", "rank 1", "rank 2", "rank 3"}), bounce_(8 * kBytes) {
    set_bounce_memory({bounce_.size(), 1});
    MessageProgram program;
    program.what = {{CollectiveKind::kBroadcast, 4, 0}, kBytes / 4, DataType::kF32, ReduceOp::kSum};
    for (const OpId op : {0U, 1U, 2U}) {
      MessageOp message{.role = MessageOp::Role::kSend, .end = {.op = op, .match = 10 + op, .peer = op + 1}};
      message.end.cut = Cut(kBytes, 4, 1);
      message.alike = (op + 1) % 3;
      ends_.push_back(message.end);
      program.ops.push_back(message);
    }
    program_ = load(std::move(program)).value();
    begin(*program_);
  }
  bool poll(TransportEvents& /*events*/) override { return false; }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}

  void offer_op(OpId op) { offer(ends_[op], {0, 1}, message_.data()); }
  /// Where the peer of an op is told to read.
  [[nodiscard]] std::optional<std::uint64_t> told(OpId op) {
    std::array<std::span<const std::byte>, 64> parts;
    const std::size_t count = gather(op + 1, parts);
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (parts[i].size() != kFrameHeaderBytes) continue;
      const auto header = decode_header(ConstHeaderBytes(parts[i].data(), kFrameHeaderBytes));
      if (header && header->kind == FrameKind::kBounced) return word_at(parts[i + 1].data());
    }
    return std::nullopt;
  }

 protected:
  [[nodiscard]] SegmentWay way_of(std::uint32_t /*peer*/, std::span<const std::byte> /*bytes*/,
                                  bool bounces) const override {
    return bounces ? SegmentWay::kBounced : SegmentWay::kSent;
  }
  [[nodiscard]] std::byte* bounce_memory(std::uint32_t /*rank*/) override { return bounce_.data(); }

 private:
  std::vector<std::byte> bounce_;
  std::array<std::byte, kBytes> message_{};
  std::vector<MessageEnd> ends_;
  std::unique_ptr<LoadedProgram> program_;
};

// Otherwise it would never give the first one back.
TEST(TransportBounce, ASendThatHasACopyTakesNoSecondOfOneThatCameLater) {
  Bouncer rank;
  rank.offer_op(0);
  rank.offer_op(1);
  const auto first = rank.told(0);  // the copy is for op 1 as well
  ASSERT_TRUE(first);
  rank.offer_op(2);
  const auto second = rank.told(2);  // too late for it
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  EXPECT_EQ(rank.told(1), first);
  EXPECT_EQ(rank.bounce_counts().copied, 2U);
  EXPECT_EQ(rank.bounce_counts().shared, 1U);
}

/// Segments that went each way, of all ranks, in a ring of two that moves 2 MiB in segments of so many bytes.
struct Ways {
  std::uint64_t bounced = 0;
  std::uint64_t by_kernel = 0;
  std::uint64_t mapped = 0;
};

Ways ways_of(test::Over over, std::int64_t segment) {
  constexpr std::int64_t kCount = 1 << 18;
  auto ranks = test::connected_ranks(2, over);
  const VerifiedSchedule ring = prove(test::ring_all_reduce(2, 1).value()).value();
  const Plan plan =
      Plan::bind(ring, {ring.schedule().collective(), kCount, DataType::kI64, ReduceOp::kSum}, {segment}).value();
  test::run_all(2, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
    for (std::int64_t call = 0; call < 5; ++call) {
      std::vector<std::int64_t> values(kCount);
      for (std::int64_t i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = (r + 1) * i + call;
      const Result<void> ran = driver->run({values.data(), values.data()});
      ASSERT_TRUE(ran) << ran.error().text;
      for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], 3 * i + 2 * call);
    }
  });
  Ways ways;
  for (const auto& rank : ranks) {
    const auto& shm = static_cast<const ShmRank&>(*rank);
    ways.bounced += shm.bounce_counts().copied;
    ways.by_kernel += shm.loan_counts().copied;
    ways.mapped += shm.loan_counts().mapped;
  }
  test::leave_all(std::move(ranks));
  return ways;
}

/// Segments of the all-gather of a direct all-reduce, of which a shard is 32 KiB, that ranks read from a copy made for
/// another; every result is looked at.
std::uint64_t shared_of(std::uint32_t count, test::Over over) {
  const std::int64_t elements = std::int64_t{4096} * count;
  auto ranks = test::connected_ranks(count, over);
  const Topology together = topology_from_spec(fmt::format("switch:{}", count), {}).value();
  const Collective what{CollectiveKind::kAllReduce, count, 0};
  const VerifiedSchedule direct = plan_algorithm(*find_algorithm("direct").value(), {together, what}).value();
  const Plan plan = Plan::bind(direct, {what, elements, DataType::kI64, ReduceOp::kSum}, {64 << 10}).value();
  std::atomic<std::uint64_t> shared{0};
  test::run_all(count, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
    for (std::int64_t call = 0; call < 20; ++call) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(elements));
      std::vector<std::int64_t> sums(values.size());
      for (std::int64_t i = 0; i < elements; ++i) values[static_cast<std::size_t>(i)] = (r + 1) * i + call;
      ASSERT_TRUE(driver->run({values.data(), sums.data()}));
      for (std::int64_t i = 0; i < elements; ++i)
        ASSERT_EQ(sums[static_cast<std::size_t>(i)], count * (count + 1) / 2 * i + count * call) << "rank " << r;
    }
    if (over == test::Over::kShm) shared += static_cast<const ShmRank&>(*ranks[r]).bounce_counts().shared;
  });
  test::leave_all(std::move(ranks));
  return shared;
}

// Among the ranks of a host; in mixed company some of those that get the same bytes are elsewhere.
TEST(TransportBounce, WhatGoesToSeveralPeersIsCopiedOnce) {
  EXPECT_GE(shared_of(4, test::Over::kShm), 20U * 4 * 2 / 2) << "two of three peers, but for some that were late";
  shared_of(6, test::Over::kMixed);
}

TEST(TransportBounce, LongSegmentsAreCopiedOnceAndTooLongOnesByTheKernel) {
  constexpr std::uint64_t kMessages = 5 * 2 * 2;  // of a MiB
  const Ways bounced = ways_of(test::Over::kShm, 64 << 10);
  EXPECT_EQ(bounced.bounced, kMessages * 16);
  EXPECT_EQ(bounced.by_kernel + bounced.mapped, 0U);
  const Ways lent = ways_of(test::Over::kShm, 1 << 20);
  EXPECT_EQ(lent.bounced, 0U);
  EXPECT_GE(lent.by_kernel, kMessages * 4 / 5);  // in the first call it may not be known yet that they can be read
  EXPECT_LE(lent.by_kernel, kMessages);
  const Ways nothing_lent = ways_of(test::Over::kRings, 1 << 20);
  EXPECT_EQ(nothing_lent.bounced + nothing_lent.by_kernel, 0U);
  const Ways short_ones = ways_of(test::Over::kShm, 8 << 10);
  EXPECT_EQ(short_ones.bounced + short_ones.by_kernel, 0U);
}

}  // namespace
}  // namespace hocket

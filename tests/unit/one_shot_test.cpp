// One-shot plans: which plans are, and what becomes of them on ranks that share memory: the messages are shown on a
// board instead of sent, with the same results, deadlines, aborts and mismatches as any other call.
#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "engine/reference.h"
#include "support/connected_ranks.h"
#include "support/small_schedules.h"
#include "topology/spec.h"
#include "transport/board.h"
#include "verify/one_shot.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using test::connected_ranks;
using test::leave_all;
using test::Over;
using test::run_all;

struct Binding {
  std::int64_t segment = Board::kBytesMax;
  ReduceOp op = ReduceOp::kSum;
};

Plan plan_by(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks, std::int64_t count,
             const Binding& binding = {}) {
  const Topology topology = topology_from_spec(fmt::format("full:{}", ranks), {}).value();
  const Collective collective{kind, ranks, 0};
  const Algorithm& a = *find_algorithm(algorithm).value();
  const VerifiedSchedule verified = prove(a.plan({topology, collective}).value()).value();
  return Plan::bind(verified, {collective, count, DataType::kF32, binding.op}, {binding.segment}).value();
}

Plan all_reduce_by(std::string_view algorithm, std::uint32_t ranks, std::int64_t count) {
  return plan_by(algorithm, CollectiveKind::kAllReduce, ranks, count);
}

std::optional<std::size_t> bytes_of(const Plan& plan) { return one_shot_bytes(plan, Board::kBytesMax); }

TEST(OneShot, PlansInWhichAllSendTheSameToAllAreKnown) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 7U}) EXPECT_EQ(bytes_of(all_reduce_by("one_shot", ranks, 5)), 20U);
  EXPECT_EQ(bytes_of(all_reduce_by("one_shot", 3, 0)), 0U);
  EXPECT_EQ(bytes_of(all_reduce_by("recursive_doubling", 2, 5)), 20U);
  EXPECT_EQ(bytes_of(plan_by("direct", CollectiveKind::kAllGather, 4, 8)), 8U);
}

TEST(OneShot, OtherPlansAreNot) {
  EXPECT_EQ(bytes_of(all_reduce_by("recursive_doubling", 4, 5)), std::nullopt);
  EXPECT_EQ(bytes_of(all_reduce_by("ring", 3, 6)), std::nullopt);
  EXPECT_EQ(bytes_of(plan_by("direct", CollectiveKind::kAllToAll, 3, 6)), std::nullopt);
  EXPECT_EQ(bytes_of(plan_by("direct", CollectiveKind::kBroadcast, 3, 6)), std::nullopt);
  EXPECT_EQ(bytes_of(plan_by("direct", CollectiveKind::kReduceScatter, 3, 6)), std::nullopt);
}

TEST(OneShot, NorAreThoseOfLongMessagesOrOfSeveralSegments) {
  EXPECT_EQ(bytes_of(all_reduce_by("one_shot", 3, Board::kBytesMax / 4)), Board::kBytesMax);
  EXPECT_EQ(bytes_of(all_reduce_by("one_shot", 3, Board::kBytesMax / 4 + 1)), std::nullopt);
  EXPECT_EQ(bytes_of(plan_by("one_shot", CollectiveKind::kAllReduce, 3, 64, {.segment = 128})), std::nullopt);
}

TEST(Board, AMessageIsSeenByItsNumberAndItsCall) {
  std::vector<BoardSlots> memory(2);
  Board one(memory, 0);
  Board two(memory, 1);
  const std::array<std::byte, 3> words{std::byte{1}, std::byte{2}, std::byte{3}};
  one.show({7, 8}, words);
  EXPECT_FALSE(one.shows(1));
  EXPECT_FALSE(one.differs(1));
  two.show({7, 9}, {});
  EXPECT_FALSE(one.shows(1));
  EXPECT_TRUE(one.differs(1));
  EXPECT_TRUE(two.differs(0));
  one.show({7, 10}, {});
  EXPECT_FALSE(one.shows(1)) << "a call behind";
  EXPECT_FALSE(one.differs(1)) << "a call behind";
  two.show({7, 10}, {});
  EXPECT_TRUE(one.shows(1));
  EXPECT_TRUE(two.shows(0));
}

TEST(Board, AMessageThatIsTooLongNeverOverwritesAnother) {
  std::vector<BoardSlots> memory(2);
  Board board(memory, 0);
  const std::vector<std::byte> message(Board::kBytesMax + 1);
  EXPECT_DEATH(board.show({1, 2}, message), "a message that no place on the board holds");
}

TEST(Board, WhatWasShownLastStaysWhileTheNextIsShown) {
  std::vector<BoardSlots> memory(2);
  Board one(memory, 0);
  Board two(memory, 1);
  const std::array<std::byte, 1> first{std::byte{1}};
  const std::array<std::byte, 1> second{std::byte{2}};
  one.show({0, 1}, first);
  two.show({0, 1}, {});
  one.show({0, 2}, second);
  EXPECT_TRUE(two.shows(0));
  EXPECT_EQ(*two.message(0), std::byte{1});
}

class OneShotRanks : public testing::TestWithParam<std::string_view> {};

/// Inputs whose sum depends on the order of adding.
std::vector<float> rough_values(const Plan& plan, std::uint32_t rank) {
  std::vector<float> values(static_cast<std::size_t>(plan.what().count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (rank % 2 == 0 ? 1e8F : -1e8F) + 1.3F * static_cast<float>(rank + i);
  return values;
}

TEST_P(OneShotRanks, AllHaveTheSameBitsInPlaceAndOutOfPlaceAndSawEachOther) {
  const std::uint32_t n = GetParam() == "recursive_doubling" ? 2 : 4;
  for (const std::int64_t count : {0, 1, 9, 2000}) {
    const Plan plan = all_reduce_by(GetParam(), n, count);
    auto ranks = connected_ranks(n, Over::kShm);
    std::vector<std::vector<float>> results(n);
    run_all(n, [&](std::uint32_t r) {
      const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
      for (int call = 0; call < 150; ++call) {  // more than go without a look at the rings
        std::vector<float> in = rough_values(plan, r);
        std::vector<float> out(in.size());
        const bool in_place = call % 2 == 0;
        const Result<void> ran = driver->run({in.data(), in_place ? in.data() : out.data()});
        ASSERT_TRUE(ran) << ran.error().text;
        ASSERT_EQ(ranks[r]->not_shown(), n) << "its messages were sent";
        std::vector<float>& result = in_place ? in : out;
        ASSERT_TRUE(call == 0 || result == results[r]) << "call " << call;
        results[r] = std::move(result);
      }
    });
    for (std::uint32_t r = 1; r < n; ++r) EXPECT_EQ(results[r], results[0]) << "rank " << r;
    leave_all(std::move(ranks));
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, OneShotRanks, testing::Values("one_shot", "recursive_doubling"),
                         [](const auto& param) { return std::string(param.param); });

TEST(OneShotRanks, CallsOfOtherPlansInBetweenDisturbNothing) {
  const Plan shown = all_reduce_by("one_shot", 3, 5);
  const Plan sent = all_reduce_by("ring", 3, 600);
  const Plan rooted = plan_by("direct", CollectiveKind::kBroadcast, 3, 7);
  auto ranks = connected_ranks(3, Over::kShm);
  run_all(3, [&](std::uint32_t r) {
    std::vector<std::unique_ptr<RankDriver>> drivers;
    for (const Plan& plan : {shown, rooted, sent}) drivers.push_back(RankDriver::create(plan, r, *ranks[r]).value());
    for (std::uint32_t call = 0; call < 300; ++call) {
      std::vector<float> values(600, static_cast<float>(r + call));
      const std::uint32_t which = call % 7 == 3 ? 2 : call % 3 == 1 ? 1 : 0;
      const Result<void> ran = drivers[which]->run({values.data(), values.data()});
      ASSERT_TRUE(ran) << "rank " << r << " call " << call << ": " << ran.error().text;
      const auto c = static_cast<float>(call);
      ASSERT_EQ(values[4], which == 1 ? c : 3 * c + 3) << "rank " << r << " call " << call;
    }
  });
  leave_all(std::move(ranks));
}

/// What ranks 0 and 1 of two say when each runs one call of its own plan.
std::vector<std::string> errors_of(const Plan& one, const Plan& two) {
  auto ranks = connected_ranks(2, Over::kShm);
  std::vector<std::string> said(2);
  run_all(2, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(r == 0 ? one : two, r, *ranks[r], {.timeout = milliseconds(5000)}).value();
    std::vector<float> in(600);
    std::vector<float> out(1200);
    const Result<void> ran = driver->run({in.data(), out.data()});
    said[r] = ran ? "success" : ran.error().text;
  });
  leave_all(std::move(ranks));
  return said;
}

TEST(OneShotRanks, DifferencesAreNamedOnBothRanks) {
  const Plan plan = all_reduce_by("one_shot", 2, 5);
  const Plan longer = all_reduce_by("one_shot", 2, 6);
  const Plan highest = plan_by("one_shot", CollectiveKind::kAllReduce, 2, 5, {.op = ReduceOp::kMax});
  const Plan sent = plan_by("one_shot", CollectiveKind::kAllReduce, 2, 5, {.segment = 8});
  const Plan gather = plan_by("direct", CollectiveKind::kAllGather, 2, 6);
  for (const auto& [other, words] : {std::pair(longer, "count"), std::pair(highest, "operator"),
                                     std::pair(sent, "plan"), std::pair(gather, "operation")}) {
    for (const std::string& said : errors_of(plan, other))
      EXPECT_NE(said.find(fmt::format("disagree on call 1: {} ", words)), std::string::npos) << said;
    for (const std::string& said : errors_of(other, plan))
      EXPECT_NE(said.find(fmt::format("disagree on call 1: {} ", words)), std::string::npos) << said;
  }
}

TEST(OneShotRanks, TheDeadlineNamesWhoHasNotShownItsMessage) {
  const Plan plan = all_reduce_by("one_shot", 3, 5);
  auto ranks = connected_ranks(3, Over::kShm);
  std::vector<std::string> said(3);
  run_all(3, [&](std::uint32_t r) {
    const DriverOptions options{.timeout = milliseconds(300), .heartbeat = milliseconds(50)};
    const auto driver = RankDriver::create(plan, r, *ranks[r], options).value();
    std::vector<float> values(5);
    for (int call = 0; call < (r == 1 ? 2 : 3); ++call) {
      const Result<void> ran = driver->run({values.data(), values.data()});
      said[r] = ran ? "success" : ran.error().text;
    }
  });
  EXPECT_EQ(said[1], "success");
  for (const std::uint32_t r : {0U, 2U}) {
    EXPECT_NE(said[r].find("rank 1"), std::string::npos) << said[r];
    EXPECT_NE(said[r].find("last seen in call 2"), std::string::npos) << said[r];
    EXPECT_NE(said[r].find("from rank 1 has finished 0 of 1 segments"), std::string::npos) << said[r];
  }
  leave_all(std::move(ranks));
}

TEST(OneShotRanks, ARankThatFailedAfterItShowedItsMessageEndsTheCall) {
  const Plan plan = all_reduce_by("one_shot", 2, 5);
  auto ranks = connected_ranks(2, Over::kShm);
  std::vector<float> values(5);
  const auto early = RankDriver::create(plan, 0, *ranks[0], {.timeout = milliseconds(50)}).value();
  EXPECT_FALSE(early->run({values.data(), values.data()}));
  const auto late = RankDriver::create(plan, 1, *ranks[1]).value();
  const Result<void> ran = late->run({values.data(), values.data()});
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().text.find("rank 0: not done within 50 ms"), std::string::npos) << ran.error().text;
  leave_all(std::move(ranks));
}

TEST(OneShotRanks, ARankThatFailedInALaterCallDoesNot) {
  const Plan plan = all_reduce_by("one_shot", 2, 5);
  auto ranks = connected_ranks(2, Over::kShm);
  std::vector<float> slow(5, 1.0F);
  std::vector<float> fast(5, 2.0F);
  const auto behind = RankDriver::create(plan, 0, *ranks[0]).value();
  const auto ahead = RankDriver::create(plan, 1, *ranks[1], {.timeout = milliseconds(50)}).value();
  ASSERT_TRUE(behind->start({slow.data(), slow.data()}));
  ASSERT_TRUE(ahead->run({fast.data(), fast.data()}));
  ASSERT_FALSE(ahead->run({fast.data(), fast.data()}));
  while (!behind->turn(Waiting::kSleeps)) {
  }
  const Result<void> ran = behind->finish();
  EXPECT_TRUE(ran) << ran.error().text;
  EXPECT_EQ(slow, std::vector<float>(5, 3.0F));
  EXPECT_FALSE(behind->run({slow.data(), slow.data()}));
  leave_all(std::move(ranks));
}

}  // namespace
}  // namespace hocket

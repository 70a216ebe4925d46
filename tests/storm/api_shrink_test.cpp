// Real processes of which some are lost: what is left of them makes a new communicator, or says at once, in the numbers
// that the caller knows, who will not come; also when one is lost while all make a new one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::connect;
using test::RankEnd;
using test::run_forked;

constexpr std::string_view kSameList = ": all that are left must call it, with the same list";

/// What shrink says to that rank, and whether soon.
std::string words_of_shrink(Communicator& comm, const std::vector<std::uint32_t>& lost) {
  const auto began = steady_clock::now();
  const Result<Communicator> left = comm.shrink(lost);
  const bool soon = steady_clock::now() - began < seconds(4);
  return (left ? "success" : left.error().text) + (soon ? ", soon" : ", late");
}

class ApiShrink : public testing::TestWithParam<test::MessageWay> {};

TEST_P(ApiShrink, ALostRankThatIsNotLeftOutIsNamedAtOnce) {
  const test::HeardRun run = test::run_heard(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 0 || rank == 2) {
      std::this_thread::sleep_for(milliseconds(200));  // the others are through with the first barrier
      ::raise(SIGKILL);
    }
    while (comm->barrier()) {
    }
    std::this_thread::sleep_for(milliseconds(300));  // both are dead
    std::string words = words_of_shrink(*comm, {0});
    std::this_thread::sleep_for(seconds(1));  // a rank whose process has ended is lost too
    return words;
  });
  for (const std::uint32_t r : {1U, 3U}) {
    const std::string& said = run.ends[r].said;
    EXPECT_TRUE(said.starts_with(fmt::format("rank {} (host ", r))) << said;
    EXPECT_NE(said.find(") lost rank 2 (host "), std::string::npos) << said;
    EXPECT_EQ(said.find("lost rank 0"), std::string::npos) << said;
    EXPECT_NE(said.find("; in shrink of 4 ranks without 0" + std::string(kSameList)), std::string::npos) << said;
    EXPECT_NE(said.find(", soon"), std::string::npos) << said;
  }
}

/// Which of the ranks that are left dies in shrink: the first of them serves the others. Those that say so leave at
/// once, and are gone for whoever looks later.
TEST_P(ApiShrink, ARankThatDiesMeanwhileAloneIsNamedInTheOldNumbers) {
  for (const std::uint32_t victim : {1U, 2U}) {
    const test::HeardRun run = test::run_heard(4, GetParam(), [victim](std::uint32_t rank) -> std::string {
      auto comm = connect();
      SAY_ERROR(comm);
      if (rank == 0) {
        std::this_thread::sleep_for(milliseconds(200));  // the others are through with the first barrier
        ::raise(SIGKILL);
      }
      while (comm->barrier()) {
      }
      std::this_thread::sleep_for(milliseconds(rank == 3 ? 400 : 300));
      if (rank == victim) ::raise(SIGKILL);
      return words_of_shrink(*comm, {0});
    });
    for (std::uint32_t r = 1; r < 4; ++r) {
      if (r == victim) continue;
      const std::string& said = run.ends[r].said;
      EXPECT_TRUE(said.starts_with(fmt::format("rank {} (host ", r))) << said;
      EXPECT_NE(said.find(fmt::format(") lost rank {} (host ", victim)), std::string::npos) << said;
      EXPECT_EQ(said.find(fmt::format(", rank {}", 6 - victim - r)), std::string::npos) << said;
      EXPECT_NE(said.find(", soon"), std::string::npos) << said;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiShrink, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

/// The rank that dies in dup() or split(), when it has said where to meet, and how long after that.
struct DeathInDup {
  std::uint32_t rank;
  std::chrono::microseconds after;
  bool in_split = false;
};

Result<Communicator> twin_of(Communicator& comm, const DeathInDup& death) {
  if (!death.in_split) return comm.dup();
  Result<std::optional<Communicator>> part = comm.split(0, 0);
  if (!part) return tl::unexpected<Error>(std::move(part.error()));
  return std::move(**part);
}

void die_in_dup(Communicator& comm, const DeathInDup& death) {
  constexpr std::uint64_t kSaid = 3;  // the barrier after all have met, and two calls of dup
  std::thread killer([&comm, &death] {
    while (comm.counters().calls < kSaid) {
    }
    std::this_thread::sleep_for(death.after);
    ::raise(SIGKILL);
  });
  [[maybe_unused]] const auto twin = twin_of(comm, death);
  killer.join();
}

class ApiDup : public testing::TestWithParam<std::tuple<test::MessageWay, DeathInDup>> {};

TEST_P(ApiDup, ARankThatDiesMeanwhileAloneIsNamedAtOnce) {
  const auto& [way, death] = GetParam();
  const test::HeardRun run = test::run_heard(4, way, [death = death](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == death.rank) die_in_dup(*comm, death);
    const auto began = steady_clock::now();
    auto twin = twin_of(*comm, death);
    std::string words;
    if (!twin) words = twin.error().text;
    while (words.empty()) {
      if (const Result<void> well = twin->barrier(); !well) words = well.error().text;
    }
    return words + (steady_clock::now() - began < seconds(4) ? ", soon" : ", late");
  });
  for (std::uint32_t r = 0; r < 4; ++r) {
    if (r == death.rank) continue;
    const std::string& said = run.ends[r].said;
    EXPECT_NE(said.find(", soon"), std::string::npos) << said;
    for (std::uint32_t other = 0; other < 4; ++other)
      EXPECT_EQ(said.find(fmt::format("lost rank {}", other)) != std::string::npos, other == death.rank) << said;
  }
}

std::string name_of_dup(const testing::TestParamInfo<ApiDup::ParamType>& param) {
  const auto& [way, death] = param.param;
  return fmt::format("{}_of_{}_after_{}us{}", way.name, death.rank, death.after.count(),
                     death.in_split ? "_in_split" : "");
}

INSTANTIATE_TEST_SUITE_P(Over, ApiDup,
                         testing::Combine(testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                                          testing::Values(DeathInDup{0, {}}, DeathInDup{0, milliseconds(1), true},
                                                          DeathInDup{3, {}, true}, DeathInDup{3, milliseconds(1)})),
                         name_of_dup);

TEST(ApiShrinkLists, ThatDifferAreSuspectedAndRanksKeepTheirNumbers) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    CommunicatorOptions options;
    options.timeout = seconds(2);
    auto comm = Communicator::create(options);
    SAY_ERROR(comm);
    if (rank == 0) std::this_thread::sleep_for(seconds(5));
    if (rank == 0) return "away";
    return words_of_shrink(*comm, rank == 1 ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{});
  });
  const std::string& one = ends[1].said;
  EXPECT_TRUE(one.starts_with("rank 1 (host ")) << one;
  EXPECT_NE(one.find("): of 2 ranks these have not come in time: rank 2 (host "), std::string::npos) << one;
  EXPECT_NE(one.find("; in shrink of 3 ranks without 0" + std::string(kSameList)), std::string::npos) << one;
  const std::string& two = ends[2].said;
  EXPECT_TRUE(two.starts_with("rank 2 (host ")) << two;
  EXPECT_NE(two.find(") has not found rank 0 (host "), std::string::npos) << two;
  EXPECT_NE(two.find("; in shrink of 3 ranks without none" + std::string(kSameList)), std::string::npos) << two;
}

TEST(ApiShrinkLists, OfRanksThatDoNotExistAreRefused) {
  for (const std::uint32_t ranks : {1U, 2U}) {
    test::expect_well(run_forked(ranks, [](std::uint32_t) -> std::string {
      auto comm = connect();
      SAY_ERROR(comm);
      const std::vector<std::uint32_t> lost{9, 9};
      const Result<Communicator> left = comm->shrink(lost);
      if (left) return "rank 9 was left out";
      if (left.error().code != Code::kInvalidArgument) return left.error().text;
      if (left.error().text.find("shrink without rank 9, which is not below the ") == std::string::npos)
        return left.error().text;
      SAY_ERROR(comm->barrier());  // it is as it was
      return {};
    }));
  }
}

}  // namespace
}  // namespace hocket

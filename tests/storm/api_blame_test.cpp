// Real processes of which one is killed at any moment of calls of any size: every survivor names that one and no other.
// Survivors end at once when their call fails, without leaving the communicator, so that their peers may see them gone
// before they have heard of the death. HOCKET_BLAMES sets how many ranks are killed in every case (here 3).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "base/result.h"
#include "net/private_file.h"
#include "net/rendezvous.h"
#include "net/root.h"
#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using std::chrono::microseconds;
using test::RankEnd;

constexpr std::uint32_t kRanks = 4;

/// kLate: blocking ones of which a survivor comes so late that the others are gone by then, half of the time already to
/// the first.
enum class Calls : std::uint8_t { kBlocking, kStarted, kRing, kPairs, kLate };
constexpr std::array<std::string_view, 5> kCallNames{"Blocking", "Started", "Ring", "Pairs", "Late"};
constexpr microseconds kLate{900'000};
constexpr std::array kModes{ProgressMode::kShared, ProgressMode::kDedicated, ProgressMode::kCaller};

struct Round {
  test::MessageWay way;
  Calls calls = Calls::kBlocking;
  ProgressMode progress = ProgressMode::kShared;
  std::uint32_t victim = 0;
  microseconds life{0};  // of the victim, from its first call on
  std::int64_t count = 0;
  std::uint64_t seed = 0;
};

/// The k-th of a case.
Round draw(const test::MessageWay& way, Calls calls, std::uint64_t k) {
  Random random(1000 * static_cast<std::uint64_t>(calls) + k);
  Round round{.way = way, .calls = calls, .progress = kModes[k % kModes.size()], .seed = k};
  round.victim = static_cast<std::uint32_t>(random.below(kRanks));
  round.life = microseconds(1 + random.below(80'000));
  round.count = static_cast<std::int64_t>(1 + random.below(std::uint64_t{1} << random.below(21)));
  if (calls == Calls::kLate) round.count = std::int64_t{1} << (14 + random.below(9));  // nothing holds all that comes
  return round;
}

/// SIGKILL to this process after that time.
void die_in(microseconds time) {
  std::signal(SIGALRM, [](int) { ::raise(SIGKILL); });
  const itimerval once{{0, 0}, {0, static_cast<suseconds_t>(time.count())}};
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

Result<void> exchange(Communicator& comm, const Round& round, std::vector<float>& in, std::vector<float>& out) {
  const bool ring = round.calls == Calls::kRing;
  const std::uint32_t to = ring ? (comm.rank() + 1) % kRanks : comm.rank() ^ 1U;
  const std::uint32_t from = ring ? (comm.rank() + kRanks - 1) % kRanks : to;
  const std::array both{
      Call{.operation = Operation::kSend, .input = in.data(), .count = round.count, .root = to},
      Call{.operation = Operation::kReceive, .output = out.data(), .count = round.count, .root = from}};
  return comm.run_group(both);
}

Result<void> work_once(Communicator& comm, const Round& round, std::vector<float>& in, std::vector<float>& out) {
  const Call reduce{.input = in.data(), .output = out.data(), .count = round.count};
  switch (round.calls) {
    case Calls::kBlocking:
    case Calls::kLate:
      return comm.run(reduce);
    case Calls::kStarted: {
      HOCKET_TRY_ASSIGN(Work work, comm.start(reduce));
      return work.wait();
    }
    case Calls::kRing:
      return exchange(comm, round, in, out);
    case Calls::kPairs:
      HOCKET_TRY(exchange(comm, round, in, out));
      return comm.barrier();
  }
  return {};
}

/// What the error of a rank's last call says.
std::string work_until_failure(std::uint32_t rank, const Round& round) {
  const auto set = [](const char* name, const char* value) {
    ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
  };
  set("HOCKET_TRANSPORT", round.way.transport);
  set("HOCKET_HOSTID", round.way.hosts);
  // Never destroyed: the process ends with the communicator as it is.
  auto* const comm = new Result<Communicator>(test::connect(round.progress));
  SAY_ERROR(*comm);
  auto* const in = new std::vector<float>(static_cast<std::size_t>(round.count), 1.0F);
  auto* const out = new std::vector<float>(in->size());
  Random random(kRanks * round.seed + rank);
  if (rank == round.victim) die_in(round.life);
  for (;;) {
    const bool late = round.calls == Calls::kLate && rank == (round.victim + 2) % kRanks;
    if (late && random.chance(round.seed % 2 == 0 ? 0.3 : 1)) std::this_thread::sleep_for(kLate);
    if (random.chance(0.1)) std::this_thread::sleep_for(microseconds(random.below(20'000)));  // it computes
    SAY_ERROR(work_once(**comm, round, *in, *out));
  }
}

/// Why the text blames wrongly; empty when it does not.
std::string wrong_in(const std::string& text, const Round& round) {
  bool named = false;
  constexpr std::string_view kWords = "lost rank ";
  for (std::size_t at = text.find(kWords); at != std::string::npos; at = text.find(kWords, at + 1)) {
    const bool right = text.compare(at + kWords.size(), 2, fmt::format("{} ", round.victim)) == 0;
    if (!right) return "another rank is called lost";
    named = named || right;
  }
  return named ? "" : "the killed rank is not called lost";
}

class ApiBlame : public testing::TestWithParam<std::tuple<test::MessageWay, Calls>> {};

TEST_P(ApiBlame, SurvivorsThatEndAtOnceNameTheKilledRank) {
  const auto& [way, calls] = GetParam();
  const char* text = std::getenv("HOCKET_BLAMES");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::uint64_t kills = text == nullptr ? 3 : std::strtoull(text, nullptr, 10);
  std::uint64_t wrong = 0;
  for (std::uint64_t k = 0; k < kills; ++k) {
    const Round round = draw(way, calls, k);
    const std::vector<RankEnd> ends =
        test::run_forked(kRanks, [&round](std::uint32_t rank) { return work_until_failure(rank, round); });
    EXPECT_EQ(ends[round.victim].signal, SIGKILL) << ends[round.victim].said;
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      if (r == round.victim) continue;
      const std::string why = wrong_in(ends[r].said, round);
      wrong += why.empty() ? 0 : 1;
      EXPECT_EQ(why, "") << "round " << k << ", " << round.count << " elements, killed rank " << round.victim
                         << "; rank " << r << " says: " << ends[r].said;
    }
  }
  fmt::print("{} killed, {} of {} survivors name another or none\n", kills, wrong, kills * (kRanks - 1));
}

INSTANTIATE_TEST_SUITE_P(Over, ApiBlame,
                         testing::Combine(testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                                          testing::Values(Calls::kBlocking, Calls::kStarted, Calls::kRing,
                                                          Calls::kPairs, Calls::kLate)),
                         [](const auto& param) {
                           return fmt::format("{}_{}", std::get<0>(param.param).name,
                                              kCallNames[static_cast<std::size_t>(std::get<1>(param.param))]);
                         });

class ApiLeft : public testing::TestWithParam<std::tuple<test::MessageWay, bool>> {};

TEST_P(ApiLeft, ARankThatHasLeftIsNotTheCauseWhereAnotherDiedBefore) {
  const auto& [way, message] = GetParam();
  const test::HeardRun run = test::run_heard(3, way, [message = message](std::uint32_t rank) -> std::string {
    auto comm = test::connect();
    SAY_ERROR(comm);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the others are through with the first barrier
    if (rank == 2) ::raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (rank == 1) return {};  // it leaves in order
    std::this_thread::sleep_for(std::chrono::seconds(2));
    float one = 0;
    if (message) SAY_ERROR(comm->receive(&one, 1, DataType::kF32, 1));
    SAY_ERROR(comm->barrier());
    return "success";
  });
  EXPECT_EQ(run.ends[1].said, "");
  EXPECT_NE(run.ends[0].said.find(") lost rank 2 (host "), std::string::npos) << run.ends[0].said;
}

INSTANTIATE_TEST_SUITE_P(Over, ApiLeft,
                         testing::Combine(testing::Values(test::kMemoryWay, test::kTcpWay), testing::Bool()),
                         [](const auto& param) {
                           return fmt::format("{}_{}", std::get<0>(param.param).name,
                                              std::get<1>(param.param) ? "message" : "barrier");
                         });

/// Of all ranks but the victim, none of which may have waited for its deadline.
void expect_lost(const std::vector<RankEnd>& ends, std::uint32_t victim) {
  EXPECT_EQ(ends[victim].signal, SIGKILL) << ends[victim].said;
  for (std::uint32_t r = 0; r < ends.size(); ++r) {
    if (r == victim) continue;
    EXPECT_EQ(wrong_in(ends[r].said, {.way = {}, .victim = victim}), "") << "rank " << r << " says: " << ends[r].said;
    EXPECT_NE(ends[r].said.find(fmt::format("lost rank {} (host ", victim)), std::string::npos) << ends[r].said;
  }
}

/// Two communicators of the same ranks, which a rank that ends does not destroy in order.
struct Two {
  Communicator* first;
  Communicator* second;
};

/// All ranks are through with the first call of the second when this returns.
Result<Two> connect_twice() {
  HOCKET_TRY_ASSIGN(Communicator first, test::connect());
  HOCKET_TRY_ASSIGN(Communicator second, first.dup());
  HOCKET_TRY(second.barrier());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return Two{new Communicator(std::move(first)), new Communicator(std::move(second))};
}

class ApiBeside : public testing::TestWithParam<test::MessageWay> {};

/// Rank 2 dies; rank 0, which serves the store, hears of that in one communicator and ends at once, without a word in
/// the other one, of which rank 1 finds both gone.
TEST_P(ApiBeside, ASurvivorThatEndsForAnotherCommunicatorIsNotNamed) {
  const test::MessageWay way = GetParam();
  const test::HeardRun run = test::run_heard(3, way, [](std::uint32_t rank) -> std::string {
    const Result<Two> two = connect_twice();
    SAY_ERROR(two);
    if (rank == 2) ::raise(SIGKILL);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    SAY_ERROR((rank == 0 ? two->first : two->second)->barrier());
    return "success";
  });
  expect_lost(run.ends, 2);
}

/// Rank 1 itself has told of the death where it then finds both gone, rank 0 without a word there.
TEST_P(ApiBeside, WhoHasToldOfADeathNamesItInEveryCommunicator) {
  const test::MessageWay way = GetParam();
  const test::HeardRun run = test::run_heard(3, way, [](std::uint32_t rank) -> std::string {
    const Result<Two> two = connect_twice();
    SAY_ERROR(two);
    if (rank == 2) ::raise(SIGKILL);
    if (rank == 1 && two->second->barrier()) return "success";
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == 0 ? 500 : 1500));
    SAY_ERROR((rank == 0 ? two->second : two->first)->barrier());
    return "success";
  });
  expect_lost(run.ends, 2);
}

INSTANTIATE_TEST_SUITE_P(Over, ApiBeside, testing::Values(test::kMemoryWay, test::kTcpWay),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(ApiMeeting, ARankThatDiesBeforeAllHaveMetIsLostAndNotMissing) {
  const auto began = std::chrono::steady_clock::now();
  const std::vector<RankEnd> ends = test::run_forked(4, [](std::uint32_t rank) -> std::string {
    if (rank == 1) return "away";  // never comes, so that all others wait for it
    std::thread killer;
    if (rank == 2) {
      killer = std::thread([] {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        ::raise(SIGKILL);
      });
    }
    auto comm = test::connect();
    SAY_ERROR(comm);
    return "success";
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));  // of 20 until the deadline
  for (const std::uint32_t r : {0U, 3U}) {
    const std::string& said = ends[r].said;
    EXPECT_TRUE(said.starts_with(fmt::format("rank {} ", r))) << said;
    EXPECT_NE(said.find(" lost rank 2 (host "), std::string::npos) << said;
    EXPECT_NE(said.find(") before all ranks were connected"), std::string::npos) << said;
  }
}

/// A rank played as far as wanted: it has left word of itself in the store of rank 0.
class PlayedRank {
 public:
  static Result<PlayedRank> come() {
    const SteadyTime limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, read_launch(environment));
    HOCKET_TRY_ASSIGN(const Root root, find_root(*launch, false));
    for (;;) {
      HOCKET_TRY_ASSIGN(const std::optional<std::string> words, read_private(root.file));
      if (words) {
        HOCKET_TRY_ASSIGN(const RootWords there, parse_root(*words));
        HOCKET_TRY_ASSIGN(Secret secret, Secret::from_text(there.secret));
        HOCKET_TRY_ASSIGN(StoreClient store, StoreClient::connect(there.address, secret, launch->rank, limit));
        HOCKET_TRY(store.set(fmt::format("member/{}", launch->rank),
                             fmt::format("127.0.0.1:1 {} {} 1 0 0 {} {}", ::getpid(), launch->size,
                                         HostPlace::own().text(), host_name()),
                             limit));
        return PlayedRank(launch->rank, std::move(secret), std::move(store), limit);
      }
      if (std::chrono::steady_clock::now() >= limit) return fail(Code::kTimeout, "rank 0 does not come");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  Result<void> connect_to(std::uint32_t lower) {
    HOCKET_TRY_ASSIGN(const std::string words, await(fmt::format("member/{}", lower)));
    HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(words.substr(0, words.find(' '))));
    HOCKET_TRY_ASSIGN(const Address address, resolve(endpoint));
    HOCKET_TRY_ASSIGN(Descriptor link, enter(address, secret_, {Claim::Purpose::kLink, rank_, 0}, limit_));
    links_.push_back(std::move(link));
    return {};
  }

  Result<std::string> await(const std::string& key) {
    HOCKET_TRY_ASSIGN(const std::optional<std::string> words, store_.get(key, limit_));
    if (!words) return fail(Code::kTimeout, "no {}", key);
    return *words;
  }

 private:
  PlayedRank(std::uint32_t rank, Secret secret, StoreClient store, SteadyTime limit)
      : rank_(rank), secret_(std::move(secret)), store_(std::move(store)), limit_(limit) {}

  std::uint32_t rank_;
  Secret secret_;
  StoreClient store_;
  SteadyTime limit_;
  std::vector<Descriptor> links_;
};

TEST(ApiMeeting, ARankThatEndsForADeathIsNotNamedByThoseThatWaitForIt) {
  const std::vector<RankEnd> ends = test::run_forked(4, [](std::uint32_t rank) -> std::string {
    if (rank == 3) {  // it dies connected with two of the others, which then wait for the third
      auto played = PlayedRank::come();
      SAY_ERROR(played);
      for (const std::uint32_t lower : {0U, 1U}) SAY_ERROR(played->connect_to(lower));
      for (const std::uint32_t lower : {0U, 1U}) SAY_ERROR(played->await(fmt::format("shm/{}", lower)));
      ::raise(SIGKILL);
    }
    SAY_ERROR(test::connect());
    return "success";
  });
  expect_lost(ends, 3);
}

TEST(ApiMeeting, WhoComesAfterADeathHearsOfItFromRank0) {
  const auto began = std::chrono::steady_clock::now();
  const std::vector<RankEnd> ends = test::run_forked(3, [](std::uint32_t rank) -> std::string {
    if (rank == 1) {
      SAY_ERROR(PlayedRank::come());
      ::raise(SIGKILL);
    }
    if (rank == 2) std::this_thread::sleep_for(std::chrono::seconds(1));
    SAY_ERROR(test::connect());
    return "success";
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));  // of 20 until the deadline
  expect_lost(ends, 1);
}

TEST(ApiMeeting, WhoIsRefusedByARankThatDiesSaysThatItIsLost) {
  const std::vector<RankEnd> ends = test::run_forked(3, [](std::uint32_t rank) -> std::string {
    if (rank == 1) {  // nobody listens where it says to be found
      auto played = PlayedRank::come();
      SAY_ERROR(played);
      SAY_ERROR(played->await("member/2"));
      ::raise(SIGKILL);
    }
    SAY_ERROR(test::connect());
    return "success";
  });
  expect_lost(ends, 1);
  EXPECT_NE(ends[2].said.find("was told: rank 0 lost") != std::string::npos,
            ends[2].said.find(") before all ranks were connected: cannot reach 127.0.0.1:1: ") != std::string::npos)
      << ends[2].said;
}

}  // namespace
}  // namespace hocket

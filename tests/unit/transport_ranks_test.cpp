// TcpRank, ShmRank and RankDriver: ranks on threads, each with its own sockets or rings: many calls, abort from another
// thread, deadlines, a rank that goes, garbage where a peer's words should be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "base/random.h"
#include "engine/reference.h"
#include "support/connected_ranks.h"
#include "support/small_schedules.h"
#include "transport/shm/shm_rank.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using test::connected_ranks;
using test::leave_all;
using test::run_all;

Plan plan_of(Result<Schedule> schedule, std::int64_t count, std::int64_t segment) {
  const VerifiedSchedule verified = prove(std::move(schedule.value())).value();
  const BoundCollective what{verified.schedule().collective(), count, DataType::kI64, ReduceOp::kSum};
  return Plan::bind(verified, what, {segment}).value();
}

std::vector<std::int64_t> values_of(const Plan& plan, std::uint32_t rank) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(plan.what().count), rank + 1);
}

std::int64_t sum_of(const Plan& plan) {
  const std::int64_t n = plan.what().collective.ranks;
  return n * (n + 1) / 2;
}

class TransportRanks : public testing::TestWithParam<test::Over> {};

TEST(TransportSpin, SpinningThatNeverPaysIsTriedMoreAndMoreRarely) {
  const auto tries = [](int waits, bool pays) {
    Spin spin(std::chrono::microseconds(50));
    int spun = 0;
    for (int i = 0; i < waits; ++i) {
      const bool spins = spin.limit().count() > 0;
      spun += spins ? 1 : 0;
      spin.ended(spins && pays);
    }
    return spun;
  };
  EXPECT_EQ(tries(10'000, true), 10'000);
  EXPECT_LT(tries(10'000, false), 20);
  EXPECT_GT(tries(10'000, false), 5);
}

TEST_P(TransportRanks, ManyCallsOfTwoPlansOnOneSetOfConnections) {
  for (const std::int64_t count : {0, 1, 7, 1000, 200'000}) {
    const Plan ring = plan_of(test::ring_all_reduce(4, 2), count, 64 << 10);
    const Plan doubling = plan_of(test::doubling_all_reduce(4), count, 32 << 10);
    auto ranks = connected_ranks(4, GetParam());
    run_all(4, [&](std::uint32_t r) {
      const auto one = RankDriver::create(ring, r, *ranks[r]).value();
      const auto two = RankDriver::create(doubling, r, *ranks[r]).value();
      for (int i = 0; i < 6; ++i) {
        std::vector<std::int64_t> values = values_of(ring, r);
        const Result<void> ran = (i % 2 == 0 ? one : two)->run({values.data(), values.data()});
        ASSERT_TRUE(ran) << ran.error().text;
        for (const std::int64_t v : values) ASSERT_EQ(v, sum_of(ring)) << "rank " << r << " call " << i;
      }
    });
    leave_all(std::move(ranks));
  }
}

TEST_P(TransportRanks, AbortFromAnotherThreadEndsAllRanks) {
  const Plan plan = plan_of(test::ring_all_reduce(3, 1), 1000, 4096);
  auto ranks = connected_ranks(3, GetParam());
  std::vector<std::unique_ptr<RankDriver>> drivers;
  for (std::uint32_t r = 0; r < 3; ++r) drivers.push_back(RankDriver::create(plan, r, *ranks[r]).value());
  std::jthread aborter([&] {
    std::this_thread::sleep_for(milliseconds(100));
    drivers[0]->abort("the user had enough");
  });
  std::vector<Result<void>> results(3);
  run_all(3, [&](std::uint32_t r) {
    if (r == 2) return;  // never comes, so that the others wait
    std::vector<std::int64_t> values = values_of(plan, r);
    results[r] = drivers[r]->run({values.data(), values.data()});
  });
  aborter.join();
  ASSERT_FALSE(results[0]);
  EXPECT_EQ(results[0].error().code, Code::kCancelled);
  EXPECT_NE(results[0].error().text.find("rank 0: aborted: the user had enough; call 1, all_reduce"),
            std::string::npos);
  ASSERT_FALSE(results[1]);
  EXPECT_NE(results[1].error().text.find("rank 1 was told: rank 0: aborted"), std::string::npos);
  std::vector<std::int64_t> values = values_of(plan, 1);
  EXPECT_NE(drivers[1]->run({values.data(), values.data()}).error().text.find("this communicator has failed"),
            std::string::npos);
  leave_all(std::move(ranks));
}

TEST_P(TransportRanks, TheDeadlineNamesWhoIsLate) {
  const Plan plan = plan_of(test::ring_all_reduce(2, 1), 10, 4096);
  auto ranks = connected_ranks(2, GetParam());
  const auto driver =
      RankDriver::create(plan, 0, *ranks[0], {.timeout = milliseconds(50), .heartbeat = milliseconds(20)}).value();
  std::vector<std::int64_t> values = values_of(plan, 0);
  const Result<void> ran = driver->run({values.data(), values.data()});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::kTimeout);
  EXPECT_NE(ran.error().text.find("rank 0: not done within 50 ms; no progress from rank 1: never heard; call 1"),
            std::string::npos)
      << ran.error().text;
  leave_all(std::move(ranks));
}

/// Rank 0 hears of rank 2 by others alone.
TEST_P(TransportRanks, ARankBehindOthersIsSeenInTheCallsThatNeededIt) {
  const Plan plan = plan_of(test::ring_all_reduce(4, 1), 100, 4096);
  auto ranks = connected_ranks(4, GetParam());
  std::string said;
  run_all(4, [&](std::uint32_t r) {
    const auto driver =
        RankDriver::create(plan, r, *ranks[r], {.timeout = milliseconds(r == 0 ? 1500 : 20'000)}).value();
    for (int i = 0; i < (r == 2 ? 3 : 4); ++i) {
      std::vector<std::int64_t> values = values_of(plan, r);
      const Result<void> ran = driver->run({values.data(), values.data()});
      if (!ran && r == 0) said = ran.error().text;
    }
  });
  EXPECT_NE(said.find("no progress from rank 2: silent for 1."), std::string::npos) << said;
  EXPECT_NE(said.find(" s, last seen in call 3; call 4"), std::string::npos) << said;
  leave_all(std::move(ranks));
}

TEST_P(TransportRanks, ALateRankIsSeenWhereItWasLast) {
  const Plan plan = plan_of(test::ring_all_reduce(4, 1), 100, 4096);
  auto ranks = connected_ranks(4, GetParam());
  std::string said;
  run_all(4, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r], {.timeout = milliseconds(1500)}).value();
    for (int i = 0; i < (r == 0 ? 4 : 3); ++i) {
      std::vector<std::int64_t> values = values_of(plan, r);
      const Result<void> ran = driver->run({values.data(), values.data()});
      if (!ran) said += ran.error().text;
    }
  });
  for (const std::uint32_t neighbour : {1U, 3U}) {
    EXPECT_NE(said.find(fmt::format("no progress from rank {}: silent for ", neighbour)), std::string::npos) << said;
  }
  const std::size_t first = said.find(", last seen in call 3");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find(", last seen in call 3", first + 1), std::string::npos) << said;
  leave_all(std::move(ranks));
}

TEST_P(TransportRanks, ARankThatLeavesIsNamedByItsCalls) {
  const Plan plan = plan_of(test::ring_all_reduce(3, 1), 100, 4096);
  auto ranks = connected_ranks(3, GetParam());
  std::vector<Result<void>> results(3);
  run_all(3, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
    for (int i = 0; i < (r == 1 ? 2 : 3); ++i) {
      std::vector<std::int64_t> values = values_of(plan, r);
      results[r] = driver->run({values.data(), values.data()});
    }
    if (r == 1) ranks[r].reset();
  });
  EXPECT_TRUE(results[1]);
  for (const std::uint32_t r : {0U, 2U}) {
    ASSERT_FALSE(results[r]);
    EXPECT_NE(results[r].error().text.find("rank 1 left after call 2"), std::string::npos) << results[r].error().text;
  }
  leave_all(std::move(ranks));
}

TEST_P(TransportRanks, OneRankNeedsNobody) {
  const Plan plan = plan_of(test::ring_all_reduce(1, 1), 5, 4096);
  auto ranks = connected_ranks(1, GetParam());
  const auto driver = RankDriver::create(plan, 0, *ranks[0]).value();
  std::vector<std::int64_t> in = values_of(plan, 0);
  std::vector<std::int64_t> out(5, 0);
  ASSERT_TRUE(driver->run({in.data(), out.data()}));
  EXPECT_EQ(in, out);
}

/// Rank 0 of two runs a call while the test writes rank 1's part of the memory.
Error error_after(const std::function<void(ShmSegment&)>& tamper, std::int64_t count = 1000) {
  const Plan plan = plan_of(test::ring_all_reduce(2, 1), count, 4096);
  const auto memory = ShmSegment::create(2).value();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  const Descriptor other(ends[1]);
  std::vector<Descriptor> links(2);
  links[1].reset(ends[0]);
  const auto rank = ShmRank::make(0, {"rank 0", "rank 1"}, memory, std::move(links));
  const auto driver = RankDriver::create(plan, 0, *rank, {.timeout = std::chrono::seconds(20)}).value();
  tamper(*memory);
  std::vector<std::int64_t> values = values_of(plan, 0);
  const Result<void> ran = driver->run({values.data(), values.data()});
  return ran ? Error{Code::kInternal, "success"} : ran.error();
}

TEST(TransportShm, GarbageOfAPeerEndsTheCommunicator) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Error error = error_after([&](ShmSegment& memory) {
      const std::span<std::byte> bytes = memory.ring_bytes(1, 0);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
      memory.ring(1, 0).positions.written.store(48 + random.below(bytes.size() - 47));
    });
    ASSERT_EQ(error.code, Code::kMalformed) << error.text;
    ASSERT_NE(error.text.find("rank 0 got from rank 1 bytes that are no frame"), std::string::npos) << error.text;
  }
}

TEST(TransportShm, PositionsBeyondTheRingEndTheCommunicator) {
  for (const std::uint64_t bad : {~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    const auto written = [&](ShmSegment& memory) { memory.ring(1, 0).positions.written.store(bad); };
    const auto taken = [&](ShmSegment& memory) { memory.ring(0, 1).positions.taken.store(bad); };
    // Nobody looks how far the reader is before the ring has been filled.
    for (const Error& error : {error_after(written), error_after(taken, 400'000)}) {
      EXPECT_EQ(error.code, Code::kMalformed);
      EXPECT_NE(error.text.find("rank 0 got from rank 1 a position beyond its ring"), std::string::npos) << error.text;
    }
  }
}

/// What rank 1 might say in call 1 of that plan: a hello, and one frame about the first message to rank 0.
std::vector<std::byte> words_of_peer(FrameKind kind, std::uint32_t segment, std::span<const std::byte> payload) {
  const Plan plan = plan_of(test::ring_all_reduce(2, 1), 1000, 4096);
  const CallNotice call{1, plan.what(), plan.fingerprint()};
  std::vector<std::byte> words;
  const auto add = [&](FrameHeader header, std::span<const std::byte> more) {
    header.sequence = 1;
    header.fingerprint = call.fingerprint();
    header.length = static_cast<std::uint32_t>(more.size());
    std::array<std::byte, kFrameHeaderBytes> wire{};
    encode_header(header, wire);
    words.insert(words.end(), wire.begin(), wire.end());
    words.insert(words.end(), more.begin(), more.end());
  };
  std::array<std::byte, kCallBytes> hello{};
  encode_call(call, hello);
  add({.kind = FrameKind::kHello}, hello);
  const Schedule& schedule = plan.schedule();
  for (OpId op = schedule.first_op(0); op < schedule.first_op(1); ++op) {
    const bool wanted = kind == FrameKind::kLent ? schedule.op(op).receives() : schedule.op(op).sends();
    if (!wanted) continue;
    add({.kind = kind, .op = op, .segment = segment}, payload);
    break;
  }
  return words;
}

Error error_after_words(const std::vector<std::byte>& words, std::int64_t process) {
  return error_after([&](ShmSegment& memory) {
    memory.state(1).process.store(process);
    std::copy(words.begin(), words.end(), memory.ring_bytes(1, 0).begin());
    memory.ring(1, 0).positions.written.store(words.size());
  });
}

TEST(TransportShm, MemoryThatCannotBeReadIsALostRank) {
  const std::array<std::byte, 8> nowhere{std::byte{16}};
  for (const std::int64_t process : {std::int64_t{::getpid()}, std::int64_t{0x7ffffffe}}) {
    const Error error = error_after_words(words_of_peer(FrameKind::kLent, 0, nowhere), process);
    EXPECT_EQ(error.code, Code::kPeerFailed);
    EXPECT_NE(error.text.find("rank 0 lost rank 1: its memory cannot be read: "), std::string::npos) << error.text;
  }
}

TEST(TransportShm, LoansThatThePlanDoesNotHaveAreRefused) {
  const std::array<std::byte, 8> address{};
  const auto error = [&](FrameKind kind, std::uint32_t segment, std::size_t bytes) {
    return error_after_words(words_of_peer(kind, segment, std::span(address).first(bytes)), ::getpid()).text;
  };
  EXPECT_NE(error(FrameKind::kLent, 1, 8).find("word of segment 1"), std::string::npos);
  EXPECT_NE(error(FrameKind::kLent, 0, 7).find("a frame that has no place on a stream"), std::string::npos);
  EXPECT_NE(error(FrameKind::kConsumed, 1, 0).find("thanks for 1 segments of op"), std::string::npos);
  EXPECT_NE(error(FrameKind::kConsumed, 0, 0).find("thanks for 0 segments of op"), std::string::npos);
  EXPECT_NE(error(FrameKind::kConsumed, 1, 3).find("a frame that has no place on a stream"), std::string::npos);
}

std::string name_of_over(const testing::TestParamInfo<test::Over>& over) {
  constexpr std::array<const char*, 4> kNames{"tcp", "shm", "rings", "mixed"};
  return kNames[static_cast<std::size_t>(over.param)];
}

INSTANTIATE_TEST_SUITE_P(Over, TransportRanks,
                         testing::Values(test::Over::kTcp, test::Over::kShm, test::Over::kRings, test::Over::kMixed),
                         name_of_over);

}  // namespace
}  // namespace hocket

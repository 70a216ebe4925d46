// Real processes that wait for messages whose other half nobody begins: circles, which every rank of them prints,
// chains behind a stopped rank, which are no fault of the ranks between, and the words of errors, which know the
// communicator's ranks only. Ranks end at once after an error, without leaving the communicator.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::RankEnd;

/// A communicator that is never destroyed.
Result<Communicator>& connect_for_good() { return *new Result<Communicator>(test::connect()); }

Call send_to(std::uint32_t peer, const float& value) {
  return {.operation = Operation::kSend, .input = &value, .count = 1, .root = peer};
}

Call receive_from(std::uint32_t peer, float& value, milliseconds timeout = milliseconds(0)) {
  return {.operation = Operation::kReceive, .output = &value, .count = 1, .root = peer, .timeout = timeout};
}

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// "rank 1 (host a, pid 7) waits for rank 2 (host a, pid 8)" without what stands in parentheses.
std::string without_places(std::string text) {
  for (std::size_t at = text.find(" (host "); at != std::string::npos; at = text.find(" (host ", at))
    text.erase(at, text.find(')', at) + 1 - at);
  return text;
}

class ApiCircle : public testing::TestWithParam<test::MessageWay> {};

TEST_P(ApiCircle, RanksThatAllSendFirstHearWhoWaitsForWhom) {
  const test::HeardRun run = test::run_heard(3, GetParam(), [](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    const float value = 1;
    Call send = send_to((rank + 1) % 3, value);
    send.timeout = milliseconds(700);
    SAY_ERROR(comm->run(send));
    return "success";
  });
  for (const RankEnd& end : run.ends) {
    const std::string said = without_places(end.said);
    EXPECT_TRUE(has(said, "no connection in time with rank")) << said;
    EXPECT_TRUE(has(said, "rank 0 waits for rank 1, that for rank 2, that for rank 0") ||
                has(said, "rank 1 waits for rank 2, that for rank 0, that for rank 1") ||
                has(said, "rank 2 waits for rank 0, that for rank 1, that for rank 2"))
        << said;
  }
}

TEST_P(ApiCircle, RanksThatAllReceiveFirstHearWhoWaitsForWhomThoughConnected) {
  const std::vector<RankEnd> ends = test::run_on_way(3, GetParam(), [](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    float out = 1;
    float in = 0;
    SAY_ERROR(comm->run_group(std::array{send_to((rank + 1) % 3, out), receive_from((rank + 2) % 3, in)}));
    SAY_ERROR(comm->run(receive_from((rank + 2) % 3, in, milliseconds(1500))));
    return "success";
  });
  for (const RankEnd& end : ends) {
    const std::string said = without_places(end.said);
    EXPECT_TRUE(has(said, "not done within 1.5 s")) << said;
    EXPECT_TRUE(has(said, "rank 0 waits for rank 2, that for rank 1, that for rank 0") ||
                has(said, "rank 1 waits for rank 0, that for rank 2, that for rank 1") ||
                has(said, "rank 2 waits for rank 1, that for rank 0, that for rank 2"))
        << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiCircle, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

/// SIGSTOP to this process, for that time.
void stop_for(seconds time) {
  const pid_t stopped = ::getpid();
  if (::fork() == 0) {
    std::this_thread::sleep_for(time);
    ::kill(stopped, SIGCONT);
    ::_exit(0);
  }
  ::raise(SIGSTOP);
}

class ApiChain : public testing::TestWithParam<std::tuple<test::MessageWay, bool>> {};

/// Every rank waits for a message of the next one; the last is stopped.
TEST_P(ApiChain, WhoWaitsForAStoppedRankIsNotBlamed) {
  const bool connected = std::get<1>(GetParam());
  const auto body = [connected](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    float value = 1;
    if (connected && rank < 3) SAY_ERROR(comm->run(receive_from(rank + 1, value)));
    if (connected && rank > 0) SAY_ERROR(comm->run(send_to(rank - 1, value)));
    SAY_ERROR(comm->barrier());
    if (rank == 3) {
      stop_for(seconds(3));
      SAY_ERROR(comm->barrier());
    }
    SAY_ERROR(comm->run(receive_from(rank + 1, value, milliseconds(1500))));
    return "success";
  };
  const test::HeardRun run = test::run_heard(4, std::get<0>(GetParam()), body);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const std::string said = without_places(run.ends[rank].said);
    EXPECT_TRUE(has(said, "that for rank 3, of which no wait is known") ||
                has(said, "rank 3 has not begun its half of the message") ||
                has(said, "no connection in time with rank 3"))
        << said;
    for (const char* healthy : {"rank 0", "rank 1", "rank 2"}) {
      EXPECT_FALSE(has(said, fmt::format("no progress from {}", healthy))) << said;
      EXPECT_FALSE(has(said, fmt::format("{} has not begun", healthy))) << said;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiChain,
                         testing::Combine(testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                                          testing::Bool()),
                         [](const auto& param) {
                           return fmt::format("{}_{}", std::get<0>(param.param).name,
                                              std::get<1>(param.param) ? "Connected" : "Unconnected");
                         });

class ApiShort : public testing::TestWithParam<test::MessageWay> {};

/// Rank 0 keeps the store; it stops, and the others wait for it, in short calls and in long ones, or for each other's
/// messages behind it.
void expect_only_rank_0_named(const test::MessageWay& way, const std::function<Result<void>(Communicator&)>& call,
                              milliseconds deadline) {
  const test::HeardRun run = test::run_heard(3, way, [&](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    SAY_ERROR(comm->barrier());
    if (rank == 0) stop_for(seconds(3));
    const auto begin = std::chrono::steady_clock::now();
    const Result<void> done = call(*comm);
    if (rank == 0) return "resumed";
    const auto took = std::chrono::steady_clock::now() - begin;
    return fmt::format("{} late: {}", took > deadline + milliseconds(1500) ? "too" : "not",
                       done ? "success" : done.error().text);
  });
  for (std::uint32_t rank = 1; rank < 3; ++rank) {
    const std::string said = without_places(run.ends[rank].said);
    EXPECT_TRUE(has(said, "not late: ")) << said;
    EXPECT_TRUE(has(said, "no progress from rank 0: silent for ")) << said;
    for (const char* healthy : {"no progress from rank 1", "no progress from rank 2"})
      EXPECT_FALSE(has(said, healthy)) << said;
  }
}

TEST_P(ApiShort, AStoppedRank0IsNamedAloneAtAShortDeadlineOfAShortCall) {
  const auto call = [](Communicator& comm) {
    std::vector<float> in(100);
    std::vector<float> out(100);
    return comm.run({.operation = Operation::kAllReduce,
                     .input = in.data(),
                     .output = out.data(),
                     .count = 100,
                     .timeout = milliseconds(400)});
  };
  expect_only_rank_0_named(GetParam(), call, milliseconds(400));
}

TEST_P(ApiShort, AStoppedRank0IsNamedAloneAtAShortDeadlineOfALongCall) {
  const auto call = [](Communicator& comm) {
    std::vector<float> in(300'000);
    std::vector<float> out(300'000);
    return comm.run({.operation = Operation::kAllReduce,
                     .input = in.data(),
                     .output = out.data(),
                     .count = 300'000,
                     .timeout = milliseconds(600)});
  };
  expect_only_rank_0_named(GetParam(), call, milliseconds(600));
}

INSTANTIATE_TEST_SUITE_P(Over, ApiShort, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

class ApiBarrier : public testing::TestWithParam<test::MessageWay> {};

/// Rank 0 sends to rank 1, which is in a barrier, where all wait for rank 0.
TEST_P(ApiBarrier, AMessageAndABarrierThatWaitForEachOtherAreACircle) {
  const test::HeardRun run = test::run_heard(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    const float value = 1;
    Call call = rank == 0 ? send_to(1, value) : Call{.operation = Operation::kBarrier};
    call.timeout = milliseconds(rank == 0 ? 4000 : 3000);
    SAY_ERROR(comm->run(call));
    return "success";
  });
  for (const RankEnd& end : run.ends) {
    const std::string said = without_places(end.said);
    EXPECT_TRUE(has(said, "rank 0 waits for rank 1, that for rank 0") ||
                has(said, "rank 1 waits for rank 0, that for rank 1"))
        << said;
    EXPECT_FALSE(has(said, "no progress from rank 0")) << said;
  }
}

/// Rank 1 does something else, rank 0 waits for its message, the others in a barrier for rank 0. The barrier's deadline
/// comes first, and rank 0 hears of it.
TEST_P(ApiBarrier, WhoWaitsForAMessageIsNotBlamedForTheBarrier) {
  const test::HeardRun run = test::run_heard(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    if (rank == 1) {
      std::this_thread::sleep_for(seconds(5));
      return "slept";
    }
    float value = 0;
    Call call = rank == 0 ? receive_from(1, value) : Call{.operation = Operation::kBarrier};
    call.timeout = milliseconds(rank == 0 ? 4000 : 3000);
    SAY_ERROR(comm->run(call));
    return "success";
  });
  for (std::uint32_t r : {0U, 2U, 3U}) {
    const std::string said = without_places(run.ends[r].said);
    EXPECT_FALSE(has(said, "no progress from rank 0")) << said;
    EXPECT_TRUE(has(said, "waits for rank 0, that for rank 1, of which no wait is known")) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiBarrier, testing::Values(test::kMemoryWay, test::kTcpWay),
                         [](const auto& param) { return std::string(param.param.name); });

class ApiWords : public testing::TestWithParam<test::MessageWay> {};

/// What rank 1 says of a message from rank 3 that it does not get.
std::string said_by_receiver(const test::MessageWay& way, std::int64_t count_sent) {
  const test::HeardRun run = test::run_heard(4, way, [count_sent](std::uint32_t rank) -> std::string {
    auto& comm = connect_for_good();
    SAY_ERROR(comm);
    const std::array<float, 2> out{};
    float in = 0;
    if (rank == 3) {
      SAY_ERROR(comm->send(out.data(), 1, DataType::kF32, 1));
      if (count_sent > 0) SAY_ERROR(comm->send(out.data(), count_sent, DataType::kF32, 1));
    }
    if (rank != 1) SAY_ERROR(comm->barrier());
    SAY_ERROR(comm->run(receive_from(3, in)));
    SAY_ERROR(comm->run(receive_from(3, in, milliseconds(1200))));
    return "success";
  });
  return run.ends[1].said;
}

TEST_P(ApiWords, AMessageThatDoesNotComeIsToldInTheRanksOfTheCommunicator) {
  const std::string all = said_by_receiver(GetParam(), 0);
  EXPECT_TRUE(has(all, "message from rank 3 to rank 1: rank 1 (host ")) << all;
  const std::string said = without_places(all);
  EXPECT_EQ(
      said,
      "message from rank 3 to rank 1: rank 1: not done within 1.2 s; rank 3 has not begun its half of the message; "
      "message 2 of 1 f32: rank 1 has received 0 of 1 segments from rank 3");
}

TEST_P(ApiWords, AMessageOfAnotherLengthIsToldInTheRanksOfTheCommunicator) {
  const std::string said = without_places(said_by_receiver(GetParam(), 2));
  EXPECT_TRUE(has(said,
                  "rank 1 and rank 3 disagree on message 2: count 1 here, 2 there (here: message 2 of 1 f32; there: "
                  "message 2 of 2 f32)") ||
              has(said,
                  "rank 3 and rank 1 disagree on message 2: count 2 here, 1 there (here: message 2 of 2 f32; there: "
                  "message 2 of 1 f32)"))
      << said;
  for (const char* word : {"rank 0", "rank 2", "root", "broadcast", "(here 0)"}) EXPECT_FALSE(has(said, word)) << said;
}

INSTANTIATE_TEST_SUITE_P(Over, ApiWords, testing::Values(test::kMemoryWay, test::kTcpWay),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace hocket

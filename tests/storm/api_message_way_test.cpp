// Messages whose way is lost or cannot be had, on real processes: a rank that dies in the middle, one of another user,
// one whose limits permit no shared memory; and what a rank that waits costs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::connect;
using test::expect_well;
using test::HeardRun;
using test::MessageWay;
using test::RankEnd;
using test::run_forked;
using test::run_heard;
using test::run_on_way;

constexpr MessageWay kAnyWay{"auto", "auto", ""};

std::chrono::nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// 100'000 ints there, 3 back; gives what went wrong.
std::string exchange(Communicator& comm) {
  const bool sends = comm.rank() == 0;
  std::vector<int> there(100'000, sends ? 5 : -1);
  std::vector<int> back(3, sends ? -1 : 6);
  const auto length = static_cast<std::int64_t>(there.size());
  SAY_ERROR(sends ? comm.send(there.data(), length, DataType::kI32, 1)
                  : comm.receive(there.data(), length, DataType::kI32, 0));
  SAY_ERROR(sends ? comm.receive(back.data(), 3, DataType::kI32, 1) : comm.send(back.data(), 3, DataType::kI32, 0));
  return there == std::vector<int>(100'000, 5) && back == std::vector<int>(3, 6) ? "" : "wrong data";
}

TEST(ApiMessageParts, RanksThatHaveNotMetYetMeetWhenRank0HasLeft) {
  expect_well(run_on_way(3, kAnyWay, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 0) return {};
    std::this_thread::sleep_for(milliseconds(400));
    int value = rank == 1 ? 7 : 0;
    SAY_ERROR(rank == 1 ? comm->send(&value, 1, DataType::kI32, 2) : comm->receive(&value, 1, DataType::kI32, 1));
    return value == 7 ? "" : "wrong data";
  }));
}

TEST(ApiMessageParts, WhoWaitsForARankThatHasLeftIsTold) {
  expect_well(run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 1) return {};
    if (rank == 0) {  // which stays, for its store
      std::this_thread::sleep_for(milliseconds(800));
      return {};
    }
    int value = 0;
    const auto before = steady_clock::now();
    const Result<void> got = comm->receive(&value, 1, DataType::kI32, 1);
    if (got) return "a message from nobody";
    if (steady_clock::now() - before > std::chrono::seconds(5)) return "told late";
    return got.error().text.find(") has left") != std::string::npos ? "" : got.error().text;
  }));
}

TEST(ApiMessageParts, BlocksThatOverlapAreRefused) {
  expect_well(run_forked(2, [](std::uint32_t /*rank*/) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<int> values(6, 1);
    const std::vector<std::int64_t> counts{3, 3};
    const std::vector<std::int64_t> offsets{0, 3};
    const Result<void> ran = comm->run({.operation = Operation::kAllToAllV,
                                        .input = values.data(),
                                        .output = values.data(),
                                        .type = DataType::kI32,
                                        .send = {counts, offsets},
                                        .receive = {counts, offsets}});
    if (ran) return "ran in place";
    return ran.error().text.find("all_to_all_v does not run in place") != std::string::npos ? "" : ran.error().text;
  }));
}

/// Of a part the ranks are others, and their hosts the same.
TEST(ApiMessageParts, ARankOfAPartStaysOnItsHost) {
  const HeardRun run = run_heard(4, test::kMixedWay, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    for (const std::uint32_t color : {rank / 2, rank % 2}) {  // the two of a host, then one of each
      auto part = comm->split(color, rank);
      SAY_ERROR(part);
      if (std::string said = exchange(**part); !said.empty()) return said;
      auto twin = (*part)->dup();
      SAY_ERROR(twin);
    }
    return {};
  });
  expect_well(run.ends);
  for (const std::string& log : run.logs) {
    std::vector<std::string> ways;
    for (std::size_t at = log.find("talks through "); at != std::string::npos;
         at = log.find("talks through ", at + 1)) {
      const std::size_t word = at + std::string_view("talks through ").size();
      ways.push_back(log.substr(word, log.find('\n', word) - word));
    }
    EXPECT_EQ(ways, (std::vector<std::string>{"shm+tcp", "shm", "shm", "tcp", "tcp"}));
  }
}

class ApiMessageWay : public testing::TestWithParam<MessageWay> {};

TEST_P(ApiMessageWay, ARankThatWaitsForAMessageSleeps) {
  expect_well(run_on_way(2, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (std::string said = exchange(*comm); !said.empty()) return said;
    const std::chrono::nanoseconds before = processor_time();
    int value = 1;
    if (rank == 0) {
      std::this_thread::sleep_for(milliseconds(1500));
      SAY_ERROR(comm->send(&value, 1, DataType::kI32, 1));
      return {};
    }
    SAY_ERROR(comm->receive(&value, 1, DataType::kI32, 0));
    const std::chrono::duration<double> spent = processor_time() - before;
    return spent < milliseconds(150) ? "" : fmt::format("{} s of processor time in a wait of 1.5 s", spent.count());
  }));
}

TEST_P(ApiMessageWay, ARankThatDiesIsNamedToWhoWaitsForIt) {
  for (const ProgressMode progress : {ProgressMode::kShared, ProgressMode::kDedicated}) {
    const std::vector<RankEnd> ends = run_on_way(2, GetParam(), [progress](std::uint32_t rank) -> std::string {
      auto comm = connect(progress);
      SAY_ERROR(comm);
      if (std::string said = exchange(*comm); !said.empty()) return said;
      if (rank == 1) {
        std::this_thread::sleep_for(milliseconds(200));
        ::raise(SIGKILL);
      }
      int value = 0;
      const auto begun = steady_clock::now();
      const auto lost = comm->receive(&value, 1, DataType::kI32, 1);
      const std::chrono::duration<double> took = steady_clock::now() - begun;
      if (took > std::chrono::seconds(5)) return fmt::format("it took {} s", took.count());
      return lost ? "success" : lost.error().text;
    });
    EXPECT_EQ(ends[1].signal, SIGKILL);
    EXPECT_NE(ends[0].said.find("lost rank 1"), std::string::npos) << ends[0].said;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiMessageWay, testing::Values(test::kMemoryWay, test::kTcpWay),
                         [](const auto& param) { return std::string(param.param.name); });

/// Files of this process may have no more bytes; shared memory is a file.
void limit_files() {
  const rlimit limit{4096, 4096};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// What rank 0 makes rank 1 cannot open, as for a process of another user.
void part_users(std::uint32_t rank) {
  if (rank == 0) ::prctl(PR_SET_DUMPABLE, 0);
  if (rank == 1 && ::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setresuid(kNobody, kNobody, kNobody) != 0) fmt::print("cannot be another user; a limit of its own is left\n");
  }
}

/// Ranks that collectives have joined in memory, and one of which then loses the right to more of it.
HeardRun run_hindered(const MessageWay& way, void (*hinder)(std::uint32_t rank)) {
  return run_heard(2, way, [hinder](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    hinder(rank);
    SAY_ERROR(comm->barrier());
    std::string said = exchange(*comm);
    if (said.empty()) said = exchange(*comm);
    return said;
  });
}

void hinder_sender(std::uint32_t rank) {
  if (rank == 0) limit_files();
}

struct Hindrance {
  const char* name;
  void (*hinder)(std::uint32_t rank);
  const char* reason;
};

class ApiMessageHindrance : public testing::TestWithParam<Hindrance> {};

TEST_P(ApiMessageHindrance, BothGoOnOverTcp) {
  const HeardRun run = run_hindered(kAnyWay, GetParam().hinder);
  expect_well(run.ends);
  for (const std::string& log : run.logs) {
    EXPECT_NE(log.find("talks through shm"), std::string::npos) << log;
    const std::size_t at = log.find("messages from rank 0 to rank 1 go through tcp: no shared memory: rank ");
    ASSERT_NE(at, std::string::npos) << log;
    EXPECT_NE(log.find(GetParam().reason, at), std::string::npos) << log;
  }
}

TEST_P(ApiMessageHindrance, IsAnErrorOfBothWhereMemoryWasAskedFor) {
  const HeardRun run = run_hindered(test::kMemoryWay, GetParam().hinder);
  for (const RankEnd& end : run.ends) {
    EXPECT_NE(end.said.find("no shared memory for messages from rank 0 "), std::string::npos) << end.said;
    EXPECT_NE(end.said.find(GetParam().reason), std::string::npos) << end.said;
  }
}

INSTANTIATE_TEST_SUITE_P(By, ApiMessageHindrance,
                         testing::Values(Hindrance{"Limit", hinder_sender,
                                                   "files of this process may have 4096 (ulimit -f)"},
                                         Hindrance{"User", part_users, "Permission denied"}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace hocket

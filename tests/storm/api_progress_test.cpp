// Where progress runs and what it costs, on real processes: every placement gives the right data, and the counters say
// whose thread paid and how many bytes a call moved; and ranks that only poll see deaths and are seen alive.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using test::expect_well;
using test::run_forked;

constexpr std::int64_t kCount = 1 << 16;
constexpr std::int64_t kBytes = kCount * 4;

std::uint32_t some_core() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
  std::uint32_t core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  return core;
}

ProgressCounters difference(const ProgressCounters& after, const ProgressCounters& before) {
  return {.calls = after.calls - before.calls,
          .bytes_sent = after.bytes_sent - before.bytes_sent,
          .bytes_received = after.bytes_received - before.bytes_received,
          .bytes_copied = after.bytes_copied - before.bytes_copied,
          .bytes_reduced = after.bytes_reduced - before.bytes_reduced,
          .caller_time = after.caller_time - before.caller_time,
          .thread_time = after.thread_time - before.thread_time};
}

/// An all-reduce of two ranks moves the vector once each way; half of it, or in one step all of it, is combined.
std::string check_cost(const CommunicatorOptions& options, const ProgressCounters& cost) {
  if (cost.calls != 1) return fmt::format("{} calls", cost.calls);
  if (cost.bytes_sent != kBytes || cost.bytes_received != kBytes)
    return fmt::format("{} bytes sent, {} received, {} wanted", cost.bytes_sent, cost.bytes_received, kBytes);
  if (cost.bytes_reduced < kBytes / 2 || cost.bytes_reduced > kBytes || cost.bytes_copied > kBytes)
    return fmt::format("{} bytes reduced, {} copied", cost.bytes_reduced, cost.bytes_copied);
  const bool by_caller = options.progress == ProgressMode::kCaller;
  const bool by_thread = options.progress == ProgressMode::kDedicated || options.progress_core.has_value();
  const bool paid = cost.caller_time.count() + cost.thread_time.count() > 0;
  const bool others = by_caller ? cost.thread_time.count() > 0 : by_thread && cost.caller_time.count() > 0;
  if (others || paid != options.count_time)
    return fmt::format("caller {} ns, thread {} ns", cost.caller_time.count(), cost.thread_time.count());
  return {};
}

std::string run_placed(CommunicatorOptions options) {
  options.timeout = std::chrono::seconds(20);
  options.topology = "ring:2";
  Result<Communicator> made = Communicator::create(options);
  if (!made) return made.error().text;
  std::vector<float> values(kCount, static_cast<float>(made->rank() + 1));
  const ProgressCounters before = made->counters();
  Result<Work> work = made->start(
      {.operation = Operation::kAllReduce, .input = values.data(), .output = values.data(), .count = kCount});
  if (!work) return work.error().text;
  SAY_ERROR(work->wait());
  for (const float value : values) {
    if (value != 3) return fmt::format("{} where 3 is the sum", value);
  }
  return check_cost(options, difference(made->counters(), before));
}

TEST(ProgressPlacement, EveryOneIsRightAndSaysWhoPaid) {
  for (const ProgressMode mode : {ProgressMode::kCaller, ProgressMode::kShared, ProgressMode::kDedicated}) {
    for (const bool pinned : {false, true}) {
      for (const bool counted : {false, true}) {
        CommunicatorOptions options;
        options.progress = mode;
        if (pinned) options.progress_core = some_core();
        options.count_time = counted;
        expect_well(run_forked(2, [&](std::uint32_t) { return run_placed(options); }));
      }
    }
  }
}

TEST(ProgressPlacement, AWaitThatEndsBeforeTheCallComesBackInTime) {
  for (const ProgressMode mode : {ProgressMode::kCaller, ProgressMode::kShared, ProgressMode::kDedicated}) {
    expect_well(run_forked(2, [mode](std::uint32_t rank) -> std::string {
      using std::chrono::milliseconds;
      auto comm = Communicator::create({.timeout = std::chrono::seconds(20), .progress = mode});
      SAY_ERROR(comm);
      if (rank == 1) std::this_thread::sleep_for(milliseconds(4000));
      float value = 1;
      auto work = comm->start({.operation = Operation::kAllReduce, .input = &value, .output = &value, .count = 1});
      SAY_ERROR(work);
      const auto began = std::chrono::steady_clock::now();
      const Result<bool> over = work->wait_for(milliseconds(rank == 0 ? 1500 : 10000));
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
      SAY_ERROR(over);
      if (rank == 0 && (*over || waited.count() < 1.5 || waited.count() > 3))
        return fmt::format("{} after {} s, 1.5 s wanted", *over ? "over" : "not over", waited.count());
      SAY_ERROR(work->wait());
      return value == 2 ? std::string() : fmt::format("{} where 2 is the sum", value);
    }));
  }
}

TEST(ProgressPlacement, ABlockingMessageRunsOnItsCallersThread) {
  for (const ProgressMode mode : {ProgressMode::kCaller, ProgressMode::kShared, ProgressMode::kDedicated}) {
    expect_well(run_forked(2, [mode](std::uint32_t rank) -> std::string {
      auto comm = Communicator::create({.timeout = std::chrono::seconds(20), .progress = mode, .count_time = true});
      SAY_ERROR(comm);
      int value = 7;
      SAY_ERROR(rank == 0 ? comm->send(&value, 1, DataType::kI32, 1) : comm->receive(&value, 1, DataType::kI32, 0));
      const ProgressCounters cost = comm->counters();
      if (cost.thread_time.count() == 0 && cost.caller_time.count() > 0) return {};
      return fmt::format("caller {} ns, thread {} ns", cost.caller_time.count(), cost.thread_time.count());
    }));
  }
}

/// What test() says at the end, of a call that nobody waits for.
std::string poll_to_end(Communicator& comm, const Call& call) {
  auto work = comm.start(call);
  SAY_ERROR(work);
  for (;;) {
    const Result<bool> over = work->test();
    SAY_ERROR(over);
    if (*over) return {};
    std::this_thread::yield();
  }
}

class PolledDeath : public testing::TestWithParam<std::tuple<test::MessageWay, Operation>> {};

TEST_P(PolledDeath, IsSeenByTestAlone) {
  const auto& [way, operation] = GetParam();
  const auto body = [way = way, operation = operation](std::uint32_t rank) -> std::string {
    ::setenv("HOCKET_TRANSPORT", way.transport, 1);  // NOLINT(concurrency-mt-unsafe): one thread
    ::setenv("HOCKET_HOSTID", way.hosts, 1);         // NOLINT(concurrency-mt-unsafe): one thread
    auto comm = test::connect(ProgressMode::kCaller);
    SAY_ERROR(comm);
    float in = 1;
    std::vector<float> out(4);
    Call call{.operation = operation, .input = &in, .output = out.data(), .count = 1};
    if (operation == Operation::kReceive) {  // by rank 0 from rank 1, once the two are connected
      if (rank > 1) call.operation = Operation::kAllReduce;
      if (rank == 1) call.operation = Operation::kSend;
      call.root = rank == 0 ? 1 : 0;
      if (rank < 2) SAY_ERROR(comm->run(call));
    }
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ::raise(SIGKILL);
    }
    return poll_to_end(*comm, call);
  };
  const std::vector<test::RankEnd> ends = run_forked(4, body);
  EXPECT_EQ(ends[1].signal, SIGKILL) << ends[1].said;
  for (const std::uint32_t r : {0U, 2U, 3U})
    EXPECT_NE(ends[r].said.find("lost rank 1 (host "), std::string::npos) << "rank " << r << " says: " << ends[r].said;
}

INSTANTIATE_TEST_SUITE_P(Over, PolledDeath,
                         testing::Combine(testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                                          testing::Values(Operation::kAllReduce, Operation::kGather,
                                                          Operation::kReceive)),
                         [](const auto& param) {
                           const Operation operation = std::get<1>(param.param);
                           const char* called = operation == Operation::kReceive  ? "receive"
                                                : operation == Operation::kGather ? "gather"
                                                                                  : "all_reduce";
                           return fmt::format("{}_{}", std::get<0>(param.param).name, called);
                         });

/// Rank 2 stays away; rank 1 comes to its deadline first.
TEST(ProgressPlacement, WhoPollsIsNotSilent) {
  const std::vector<test::RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    using std::chrono::milliseconds;
    auto comm = Communicator::create({.timeout = milliseconds(4000), .progress = ProgressMode::kCaller});
    SAY_ERROR(comm);
    float value = 1;
    const Call call{.operation = Operation::kAllReduce, .input = &value, .output = &value, .count = 1};
    if (rank == 2) std::this_thread::sleep_for(milliseconds(6000));
    if (rank == 1) SAY_ERROR(comm->run(call));
    if (rank == 0) std::this_thread::sleep_for(milliseconds(500));
    return poll_to_end(*comm, call);
  });
  EXPECT_NE(ends[1].said.find("no progress from rank 2 (host "), std::string::npos) << ends[1].said;
  EXPECT_EQ(ends[1].said.find("no progress from rank 0 (host "), std::string::npos) << ends[1].said;
}

TEST(ProgressPlacement, CoresThatAreNotThereAreRefused) {
  expect_well(run_forked(1, [](std::uint32_t) {
    CommunicatorOptions options;
    options.progress_core = 1023;
    const Result<Communicator> made = Communicator::create(options);
    if (made) return std::string("core 1023 was taken");
    const std::string& text = made.error().text;
    return text == "core 1023 is none that this process may run on" ? std::string() : text;
  }));
  expect_well(run_forked(1, [](std::uint32_t) {
    ::setenv("HOCKET_PROGRESS_CORE", "1x", 1);  // NOLINT(concurrency-mt-unsafe): one thread
    const Result<Communicator> made = Communicator::create();
    if (made) return std::string("'1x' was taken");
    const std::string& text = made.error().text;
    return text == "HOCKET_PROGRESS_CORE='1x' is not a core's number" ? std::string() : text;
  }));
}

}  // namespace
}  // namespace hocket

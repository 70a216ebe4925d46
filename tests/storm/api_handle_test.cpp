// What a caller can do wrong with the objects of the interface: those that hold nothing, words that are none, memory
// beyond what there is, a stderr that takes nothing. Each is an error, and the communicator goes on.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hocket.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "support/api_ranks.h"

namespace hocket {
namespace {

template <class T>
void expect_refused(const Result<T>& result, const std::string& said) {
  ASSERT_FALSE(result) << said;
  EXPECT_EQ(result.error().code, Code::kInvalidArgument) << result.error().text;
  EXPECT_NE(result.error().text.find(said), std::string::npos) << result.error().text;
}

Result<Communicator> alone() {
  CommunicatorOptions options;
  options.rank = 0;
  options.size = 1;
  return Communicator::create(options);
}

TEST(ApiHandles, AMovedFromCommunicatorRefusesAll) {
  Result<Communicator> made = alone();
  ASSERT_TRUE(made) << made.error().text;
  const Communicator owner = std::move(*made);
  Communicator& comm = *made;  // NOLINT(bugprone-use-after-move): that is what is tested
  const std::string said = "this communicator holds nothing";
  float value = 1;
  EXPECT_EQ(comm.size(), 0U);
  EXPECT_EQ(comm.rank(), 0U);
  expect_refused(comm.run({}), said);
  expect_refused(comm.start({}), said);
  expect_refused(comm.run_group({}), said);
  expect_refused(comm.start_group({}), said);
  expect_refused(comm.prepare({}), said);
  expect_refused(comm.all_reduce(&value, &value, 1, DataType::kF32), said);
  expect_refused(comm.broadcast(&value, 1, DataType::kF32, 0), said);
  expect_refused(comm.send(&value, 1, DataType::kF32, 0), said);
  expect_refused(comm.receive(&value, 1, DataType::kF32, 0), said);
  expect_refused(comm.barrier(), said);
  expect_refused(comm.split(0, 0), said);
  expect_refused(comm.dup(), said);
  expect_refused(comm.shrink({}), said);
  expect_refused(comm.register_memory(&value), said);
  expect_refused(comm.deregister_memory(&value), said);
  comm.abort("nothing to end");
  ASSERT_TRUE(comm.failure());
  EXPECT_NE(comm.failure()->text.find(said), std::string::npos);
  EXPECT_EQ(comm.counters().calls, 0U);
  EXPECT_EQ(owner.size(), 1U);
}

TEST(ApiHandles, CallsThatHoldNothingRefuseToRunOrWait) {
  float value = 1;
  PersistentCall call;
  expect_refused(call.run(&value, &value), "this prepared call holds nothing");
  expect_refused(call.start(&value, &value), "this prepared call holds nothing");
  Work work;
  expect_refused(work.wait(), "this work holds nothing");
  expect_refused(work.test(), "this work holds nothing");
  work.abort("nothing to end");
  Result<Communicator> comm = alone();
  ASSERT_TRUE(comm) << comm.error().text;
  Result<Work> started = comm->start({.input = &value, .output = &value, .count = 1});
  ASSERT_TRUE(started);
  work = std::move(*started);
  expect_refused(started->wait(), "this work holds nothing");  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(work.wait());
  EXPECT_TRUE(work.wait()) << "a work that is over says so again";
}

TEST(ApiHandles, EnumeratorsThatDoNotExistAreRefused) {
  Result<Communicator> comm = alone();
  ASSERT_TRUE(comm) << comm.error().text;
  float value = 1;
  const Call good{.input = &value, .output = &value, .count = 1};
  const auto expect_everywhere = [&comm](const Call& call, const std::string& said) {
    expect_refused(comm->run(call), said);
    expect_refused(comm->start(call), said);
    expect_refused(comm->run_group({&call, 1}), said);
    if (call.operation != Operation::kSend) expect_refused(comm->prepare(call), said);
  };
  for (const int number : {13, 55, 255}) {
    Call call = good;
    call.operation = static_cast<Operation>(number);
    expect_everywhere(call, fmt::format("operation {} does not exist", number));
    call = good;
    call.type = static_cast<DataType>(number);
    expect_everywhere(call, fmt::format("data type {} does not exist", number));
    call.operation = Operation::kSend;
    expect_everywhere(call, fmt::format("data type {} does not exist", number));
    call = good;
    call.reduction.op = static_cast<ReduceOp>(number);
    expect_everywhere(call, fmt::format("reduce operator {} does not exist", number));
  }
  Call late = good;
  late.timeout = std::chrono::nanoseconds(-1);
  expect_everywhere(late, "a timeout below 0");
  EXPECT_TRUE(comm->run(good));
}

TEST(ApiHandles, OptionsThatAreNoneAreRefused) {
  CommunicatorOptions options;
  options.rank = 0;
  options.size = 1;
  options.progress = static_cast<ProgressMode>(9);
  expect_refused(Communicator::create(options), "progress mode 9 does not exist");
  options.progress = ProgressMode::kShared;
  for (const int descriptor : {999, STDERR_FILENO}) {
    options.listener = descriptor;
    expect_refused(Communicator::create(options),
                   fmt::format("the listener, descriptor {}, is no socket that listens", descriptor));
  }
}

TEST(ApiHandles, IntegersAreScaledByWholeNumbersOnly) {
  Result<Communicator> comm = alone();
  ASSERT_TRUE(comm) << comm.error().text;
  for (const double by : {2.5, 1e30, -1e30, 0x1p63, std::numeric_limits<double>::quiet_NaN()}) {
    std::int64_t value = 3;
    expect_refused(comm->all_reduce(&value, &value, 1, DataType::kI64, Reduction::premultiplied_sum(by)),
                   "must be a whole number of 64 bits");
    EXPECT_EQ(value, 3);
  }
  std::int64_t value = 3;
  ASSERT_TRUE(comm->all_reduce(&value, &value, 1, DataType::kI64, Reduction::premultiplied_sum(-2)));
  EXPECT_EQ(value, -6);
  std::uint64_t large = 1;
  ASSERT_TRUE(comm->all_reduce(&large, &large, 1, DataType::kU64, Reduction::premultiplied_sum(0x1p63)));
  EXPECT_EQ(large, std::uint64_t{1} << 63);
  float real = 2;
  ASSERT_TRUE(comm->all_reduce(&real, &real, 1, DataType::kF32, Reduction::premultiplied_sum(2.5)));
  EXPECT_EQ(real, 5);
}

TEST(ApiHandles, TheLargestScalarsOfTheCInterfaceAreTaken) {
  hktUniqueId id = {};
  hktComm_t comm = nullptr;
  ASSERT_EQ(hktGetUniqueId(&id), hktSuccess);
  ASSERT_EQ(hktCommInitRank(&comm, 1, id, 0), hktSuccess);
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  hktRedOp_t op = hktSum;
  ASSERT_EQ(hktRedOpCreatePreMulSum(&op, &most, hktUint64, hktScalarHostImmediate, comm), hktSuccess);
  std::uint64_t value = 1;
  EXPECT_EQ(hktAllReduce(&value, &value, 1, hktUint64, op, comm, nullptr), hktSuccess) << hktGetLastError(comm);
  EXPECT_EQ(value, most);
  EXPECT_EQ(hktRedOpCreatePreMulSum(&op, &most, hktUint64, static_cast<hktScalarResidence_t>(7), comm),
            hktInvalidArgument);
  EXPECT_EQ(hktCommDestroy(comm), hktSuccess);
}

TEST(ApiHandles, AGroupWhoseCommunicatorIsGoneMakesNoCall) {
  hktUniqueId id = {};
  hktComm_t comm = nullptr;
  ASSERT_EQ(hktGetUniqueId(&id), hktSuccess);
  ASSERT_EQ(hktCommInitRank(&comm, 1, id, 0), hktSuccess);
  const int sent = 7;
  int got = 0;
  ASSERT_EQ(hktGroupStart(), hktSuccess);
  EXPECT_EQ(hktSend(&sent, 1, hktInt32, 0, comm, nullptr), hktSuccess);
  EXPECT_EQ(hktRecv(&got, 1, hktInt32, 0, comm, nullptr), hktSuccess);
  EXPECT_EQ(hktCommDestroy(comm), hktSuccess);
  EXPECT_EQ(hktGroupEnd(), hktInvalidArgument);
  EXPECT_NE(std::string(hktGetLastError(nullptr)).find("a communicator was destroyed"), std::string::npos);
  EXPECT_EQ(got, 0);
}

TEST(ApiHandles, MemoryBeyondWhatThereIsIsRefusedAndNotTaken) {
  const Result<void*> memory = allocate_memory(std::size_t{1} << 50);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, Code::kResourceExhausted);
  EXPECT_NE(memory.error().text.find("no 1125899906"), std::string::npos) << memory.error().text;
  EXPECT_NE(memory.error().text.find("GiB are available"), std::string::npos) << memory.error().text;
  void* taken = nullptr;
  EXPECT_EQ(hktMemAlloc(&taken, std::size_t{1} << 50), hktSystemError);
  EXPECT_EQ(taken, nullptr);
}

TEST(ApiHandles, DescriptorsThatRunOutAreNamedByAllRanksBeforeTheyWait) {
  const std::vector<test::RankEnd> ends = test::run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = test::connect();
    SAY_ERROR(comm);
    const rlimit few{64, 64};
    if (rank == 0) ::setrlimit(RLIMIT_NOFILE, &few);
    std::vector<Communicator> made;
    for (int i = 0; i < 64; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      Result<Communicator> next = comm->dup();
      if (next) {
        made.push_back(std::move(*next));
        continue;
      }
      if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(10)) return "late: " + next.error().text;
      if (next.error().code != Code::kResourceExhausted) return "another code: " + next.error().text;
      SAY_ERROR(comm->barrier());  // what was there goes on
      return next.error().text;
    }
    return "64 communicators";
  });
  for (const test::RankEnd& end : ends) {
    EXPECT_NE(end.said.find("no new communicator: rank 0 (host "), std::string::npos) << end.said;
    EXPECT_NE(end.said.find("too many open files: "), std::string::npos) << end.said;
    EXPECT_NE(end.said.find(" of 64 are left (ulimit -n)"), std::string::npos) << end.said;
  }
}

TEST(ApiHandles, ADebugLineThatCannotBeWrittenFailsNothing) {
  test::expect_well(test::run_forked(2, [](std::uint32_t) -> std::string {
    const int full = ::open("/dev/full", O_WRONLY);
    if (full < 0 || ::dup2(full, STDERR_FILENO) < 0) return "no /dev/full";
    ::setenv("HOCKET_DEBUG", "3", 1);  // NOLINT(concurrency-mt-unsafe): one thread so far
    hktComm_t comm = nullptr;
    if (hktCommInitEnv(&comm, nullptr) != hktSuccess) return hktGetLastError(nullptr);
    float value = 1;
    if (hktAllReduce(&value, &value, 1, hktFloat32, hktSum, comm, nullptr) != hktSuccess) return hktGetLastError(comm);
    if (hktCommDestroy(comm) != hktSuccess) return "destroy";
    return value == 2.0F ? "" : "wrong data";
  }));
}

}  // namespace
}  // namespace hocket

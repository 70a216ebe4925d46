// Real processes through hocket.h: an id made by one rank, every function once, NCCL's forms of groups and operators,
// results instead of exceptions.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hocket.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <semaphore>
#include <vector>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using test::expect_well;

#define SAY_FAILURE(expression, comm)                                                                \
  do {                                                                                               \
    if (const hktResult_t said = (expression); said != hktSuccess)                                   \
      return fmt::format("{}: {}: {}", #expression, hktGetErrorString(said), hktGetLastError(comm)); \
  } while (false)

/// What rank 0 makes and the others wait for, in memory that all of them see.
struct SharedId {
  std::binary_semaphore made[3]{std::binary_semaphore(0), std::binary_semaphore(0), std::binary_semaphore(0)};
  hktUniqueId id{};
};

SharedId* share_id() {
  void* memory = ::mmap(nullptr, sizeof(SharedId), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) SharedId;
}

std::string check_collectives(hktComm_t comm, int rank) {
  std::array<double, 3> all{};
  const double mine = rank + 1;
  SAY_FAILURE(hktAllGather(&mine, all.data(), 1, hktFloat64, comm, nullptr), comm);
  if (all != std::array<double, 3>{1, 2, 3}) return "all-gather";
  double sum = 0;
  SAY_FAILURE(hktReduceScatter(all.data(), &sum, 1, hktFloat64, hktSum, comm, nullptr), comm);
  if (sum != 3.0 * (rank + 1)) return "reduce-scatter";
  double most = -1;
  SAY_FAILURE(hktReduce(&mine, &most, 1, hktFloat64, hktMax, 2, comm, nullptr), comm);
  if (most != (rank == 2 ? 3 : -1)) return "reduce";
  double told = mine;
  SAY_FAILURE(hktBroadcast(&told, &told, 1, hktFloat64, 1, comm, nullptr), comm);
  if (told != 2) return "broadcast";
  hktCounters_t cost;
  SAY_FAILURE(hktCommGetCounters(comm, &cost), comm);
  if (cost.calls < 4 || cost.bytesReceived == 0 || cost.callerSeconds != 0) return "counters";
  std::array<double, 3> crossed{};
  SAY_FAILURE(hktAlltoAll(all.data(), crossed.data(), 1, hktFloat64, comm, nullptr), comm);
  if (crossed != std::array<double, 3>{mine, mine, mine}) return "all-to-all";
  std::array<double, 3> gathered{};
  SAY_FAILURE(hktGather(&mine, gathered.data(), 1, hktFloat64, 0, comm, nullptr), comm);
  if (rank == 0 && gathered != all) return "gather";
  double part = 0;
  SAY_FAILURE(hktScatter(gathered.data(), &part, 1, hktFloat64, 0, comm, nullptr), comm);
  if (part != mine) return "scatter";
  SAY_FAILURE(hktBarrier(comm, nullptr), comm);
  return {};
}

std::string check_operators_and_requests(hktComm_t comm, int rank) {
  float by = static_cast<float>(rank);
  hktRedOp_t scaled = hktSum;
  SAY_FAILURE(hktRedOpCreatePreMulSum(&scaled, &by, hktFloat32, hktScalarHostImmediate, comm), comm);
  float value = 10;
  hktRequest_t request = nullptr;
  SAY_FAILURE(hktAllReduce(&value, &value, 1, hktFloat32, scaled, comm, &request), comm);
  SAY_FAILURE(hktWait(request), comm);
  if (value != 30) return "pre-multiplied sum";
  SAY_FAILURE(hktRedOpDestroy(scaled, comm), comm);
  if (hktAllReduce(&value, &value, 1, hktFloat32, scaled, comm, nullptr) != hktInvalidArgument) return "destroyed op";
  std::uint8_t tiny = 1;
  if (hktAllReduce(&tiny, &tiny, 1, hktFloat8e4m3, hktSum, comm, nullptr) != hktInvalidUsage) return "sum of fp8";
  SAY_FAILURE(hktBroadcast(&tiny, &tiny, 1, hktFloat8e4m3, 0, comm, nullptr), comm);
  const hktCall_t planned = {.operation = hktOpAllReduce, .count = 1, .datatype = hktFloat32, .op = hktSum};
  hktPlan_t plan = nullptr;
  SAY_FAILURE(hktPlanCreate(&plan, &planned, comm), comm);
  SAY_FAILURE(hktPlanStart(plan, &value, &value, &request), comm);
  int done = 0;
  while (done == 0) SAY_FAILURE(hktTest(request, &done), comm);
  SAY_FAILURE(hktPlanDestroy(plan), comm);
  return value == 90 ? "" : "persistent call";
}

std::string check_groups_and_parts(hktComm_t comm, int rank) {
  const int right = (rank + 1) % 3;
  const int left = (rank + 2) % 3;
  int sent = 100 + rank;
  int got = -1;
  int sum = rank;
  SAY_FAILURE(hktGroupStart(), nullptr);
  SAY_FAILURE(hktSend(&sent, 1, hktInt32, right, comm, nullptr), comm);
  SAY_FAILURE(hktAllReduce(&sum, &sum, 1, hktInt32, hktSum, comm, nullptr), comm);
  SAY_FAILURE(hktRecv(&got, 1, hktInt32, left, comm, nullptr), comm);
  SAY_FAILURE(hktGroupEnd(), nullptr);
  if (got != 100 + left || sum != 3) return "group";
  if (hktGroupEnd() != hktInvalidUsage) return "an end without a start";
  sum = rank;
  SAY_FAILURE(hktGroupStart(), nullptr);
  SAY_FAILURE(hktAllReduce(&sum, &sum, 1, hktInt32, hktSum, comm, nullptr), comm);
  if (hktCall(nullptr, comm, nullptr) != hktInvalidArgument) return "no call";
  if (hktAllReduce(&sum, &sum, 1, hktFloat8e4m3, hktSum, comm, nullptr) != hktInvalidUsage) return "sum of fp8";
  if (hktGroupEnd() != hktInvalidArgument) return "the end of a group of which a call was refused";
  if (sum != rank) return "a call of a group of which another was refused";
  hktComm_t part = nullptr;
  SAY_FAILURE(hktCommSplit(comm, rank == 1 ? HKT_SPLIT_NOCOLOR : 5, -rank, &part), comm);
  if ((part == nullptr) != (rank == 1)) return "split";
  if (part != nullptr) {
    int count = 0;
    int place = -1;
    SAY_FAILURE(hktCommCount(part, &count), part);
    SAY_FAILURE(hktCommUserRank(part, &place), part);
    if (count != 2 || place != (rank == 0 ? 1 : 0)) return "part";
    SAY_FAILURE(hktBarrier(part, nullptr), part);
    SAY_FAILURE(hktCommDestroy(part), nullptr);
  }
  hktComm_t twin = nullptr;
  SAY_FAILURE(hktCommDup(comm, &twin), comm);
  SAY_FAILURE(hktBarrier(twin, nullptr), twin);
  SAY_FAILURE(hktCommDestroy(twin), nullptr);
  return {};
}

/// What was started is finished by destroying, and can be waited for afterwards; nothing more can be started.
std::string check_destroyed(hktComm_t comm, int rank) {
  hktComm_t twin = nullptr;
  SAY_FAILURE(hktCommDup(comm, &twin), comm);
  double value = rank + 1;
  double late = 0;
  const hktCall_t planned = {.operation = hktOpAllReduce, .count = 1, .datatype = hktFloat64, .op = hktSum};
  hktPlan_t plan = nullptr;
  SAY_FAILURE(hktPlanCreate(&plan, &planned, twin), twin);
  hktRequest_t request = nullptr;
  SAY_FAILURE(hktAllReduce(&value, &value, 1, hktFloat64, hktSum, twin, &request), twin);
  SAY_FAILURE(hktCommDestroy(twin), nullptr);
  if (value != 6) return "destroyed before what was started was over";
  SAY_FAILURE(hktWait(request), nullptr);
  if (hktPlanStart(plan, &value, &late, nullptr) != hktInvalidArgument) return "started on a destroyed communicator";
  if (std::strstr(hktGetLastError(nullptr), "was destroyed") == nullptr) return hktGetLastError(nullptr);
  SAY_FAILURE(hktPlanDestroy(plan), nullptr);
  return {};
}

class ApiCOver : public testing::TestWithParam<test::MessageWay> {};

TEST_P(ApiCOver, EveryFunctionOnThreeRanks) {
  SharedId* const shared = share_id();
  ASSERT_NE(shared, nullptr);
  expect_well(test::run_on_way(3, GetParam(), [shared](std::uint32_t r) -> std::string {
    const int rank = static_cast<int>(r);
    if (rank == 0) {
      SAY_FAILURE(hktGetUniqueId(&shared->id), nullptr);
      for (auto& made : shared->made) made.release();
    }
    shared->made[r].acquire();
    hktComm_t comm = nullptr;
    hktConfig_t config = {};
    config.timeoutSeconds = 20;
    SAY_FAILURE(hktCommInitRankConfig(&comm, 3, shared->id, rank, &config), nullptr);
    for (const auto check :
         {check_collectives, check_operators_and_requests, check_groups_and_parts, check_destroyed}) {
      if (std::string said = check(comm, rank); !said.empty()) return said;
    }
    hktResult_t state = hktInternalError;
    SAY_FAILURE(hktCommGetAsyncError(comm, &state), comm);
    if (state != hktSuccess) return "an error out of nothing";
    // Rank 1 may be through while another is still inside and hears of the abort there.
    const hktResult_t through = hktBarrier(comm, nullptr);
    if (through != hktSuccess && (rank == 1 || through != hktAborted)) return hktGetLastError(comm);
    if (rank == 1) SAY_FAILURE(hktCommAbort(comm), comm);
    if (hktBarrier(comm, nullptr) != hktAborted) return "not aborted: " + std::string(hktGetLastError(comm));
    SAY_FAILURE(hktCommGetAsyncError(comm, &state), comm);
    if (state != hktAborted) return "no asynchronous error";
    SAY_FAILURE(hktCommDestroy(comm), nullptr);
    return {};
  }));
  ::munmap(shared, sizeof(SharedId));
}

INSTANTIATE_TEST_SUITE_P(Over, ApiCOver, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(ApiC, NonsenseIsRefused) {
  hktComm_t comm = nullptr;
  hktUniqueId id = {};
  EXPECT_EQ(hktCommInitRank(&comm, 2, id, 0), hktInvalidArgument);
  EXPECT_STREQ(hktGetLastError(nullptr), "this is no id of hktGetUniqueId");
  ASSERT_EQ(hktGetUniqueId(&id), hktSuccess);
  EXPECT_EQ(hktCommInitRank(&comm, 2, id, 2), hktInvalidArgument);
  EXPECT_EQ(hktCommInitRank(nullptr, 1, id, 0), hktInvalidArgument);
  ASSERT_EQ(hktCommInitRank(&comm, 1, id, 0), hktSuccess);
  int value = 7;
  EXPECT_EQ(hktAllReduce(&value, &value, 1, hktInt32, static_cast<hktRedOp_t>(17), comm, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktAllReduce(&value, &value, 1, static_cast<hktDataType_t>(12), hktSum, comm, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktAllReduce(&value, &value, SIZE_MAX, hktInt32, hktSum, comm, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktAllReduce(nullptr, &value, 1, hktInt32, hktSum, comm, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktAllReduce(&value, &value, 1, hktInt32, hktSum, nullptr, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktSend(&value, 1, hktInt32, -1, comm, nullptr), hktInvalidArgument);
  EXPECT_EQ(hktAllReduce(&value, &value, 1, hktInt32, hktSum, comm, nullptr), hktSuccess);
  EXPECT_EQ(value, 7);
  int version = 0;
  EXPECT_EQ(hktGetVersion(&version), hktSuccess);
  EXPECT_EQ(version, 100);
  EXPECT_EQ(hktCommDestroy(comm), hktSuccess);
}

}  // namespace
}  // namespace hocket

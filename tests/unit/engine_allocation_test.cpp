// Counts allocations of the whole program while a run of the engine is between start and completion (there must be
// none) and while events pass through the event queue (hardly any: its buckets keep their memory). And what becomes of
// a call of the C interface for which there is no memory.
#include <gtest/gtest.h>
#include <hocket.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/event_queue.h"
#include "base/random.h"
#include "engine/executor.h"
#include "support/connected_ranks.h"
#include "support/small_schedules.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};
std::atomic<bool> refusing{false};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (refusing.load(std::memory_order_relaxed)) throw std::bad_alloc();
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inlined: g++ would see a free() of what it takes for the library's operator new.
#define HOCKET_REPLACEMENT __attribute__((noinline))
HOCKET_REPLACEMENT void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
HOCKET_REPLACEMENT void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
// The library's stable_sort takes its buffer here and gives it back through the plain operator delete.
HOCKET_REPLACEMENT void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
HOCKET_REPLACEMENT void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
HOCKET_REPLACEMENT void operator delete(void* memory) noexcept { std::free(memory); }
HOCKET_REPLACEMENT void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
HOCKET_REPLACEMENT void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
HOCKET_REPLACEMENT void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace hocket {
namespace {

std::uint64_t allocations_of_runs(Result<Schedule> schedule, std::uint32_t threads) {
  const VerifiedSchedule verified = prove(std::move(schedule.value())).value();
  const BoundCollective what{verified.schedule().collective(), 4096, DataType::kF32, ReduceOp::kAvg};
  const Plan plan = Plan::bind(verified, what, {256}).value();
  const std::uint32_t ranks = what.collective.ranks;
  std::vector<std::vector<float>> memory(2 * ranks, std::vector<float>(4096, 1.0F));
  std::vector<RankBuffers> buffers;
  for (std::uint32_t r = 0; r < ranks; ++r) buffers.push_back({memory[2 * r].data(), memory[2 * r + 1].data()});
  const auto executor = Executor::create(plan, {.threads = threads, .spins_max = 50}).value();
  EXPECT_TRUE(executor->run(buffers).has_value());
  allocations = 0;
  counting = true;
  bool good = true;
  for (int i = 0; i < 20; ++i) good = executor->run(buffers).has_value() && good;
  counting = false;
  EXPECT_TRUE(good);
  return allocations;
}

TEST(EngineAllocation, TheHookCounts) {
  allocations = 0;
  counting = true;
  // The function, not the expression, which a compiler may leave out.
  ::operator delete(::operator new(64));
  counting = false;
  EXPECT_EQ(allocations, 1U);
}

TEST(EngineAllocation, NothingIsAllocatedBetweenStartAndCompletion) {
  EXPECT_EQ(allocations_of_runs(test::ring_all_reduce(4, 2), 2), 0U);
  EXPECT_EQ(allocations_of_runs(test::ring_all_reduce(2, 1), 0), 0U);
  EXPECT_EQ(allocations_of_runs(test::doubling_all_reduce(8), 2), 0U);  // sends leave from staged copies
}

class AllocationBetweenRanks : public testing::TestWithParam<test::Over> {};

TEST_P(AllocationBetweenRanks, NothingIsAllocatedBetweenStartAndCompletion) {
  const VerifiedSchedule verified = prove(test::ring_all_reduce(3, 2).value()).value();
  const BoundCollective what{verified.schedule().collective(), 300'000, DataType::kF32, ReduceOp::kSum};
  const Plan plan = Plan::bind(verified, what, {64 << 10}).value();
  auto ranks = test::connected_ranks(3, GetParam());
  test::run_all(3, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
    std::vector<float> memory(300'000, 1.0F);
    const auto run = [&] { return driver->run({memory.data(), memory.data()}).has_value(); };
    EXPECT_TRUE(run() && run());  // the second is a barrier: from here on all ranks are past their first
    if (r == 0) allocations = 0;
    if (r == 0) counting = true;
    bool good = true;
    for (int i = 0; i < 20; ++i) good = run() && good;
    if (r == 0) counting = false;
    EXPECT_TRUE(good && run());  // nobody leaves while somebody counts
  });
  EXPECT_EQ(allocations, 0U);
  test::leave_all(std::move(ranks));
}

INSTANTIATE_TEST_SUITE_P(Over, AllocationBetweenRanks,
                         testing::Values(test::Over::kTcp, test::Over::kShm, test::Over::kRings, test::Over::kMixed));

TEST(EventQueueAllocation, AMillionEventsAllocateAlmostNever) {
  Random random(1);
  EventQueue<std::uint64_t> queue;
  for (int i = 0; i < 1000; ++i) queue.push({static_cast<std::int64_t>(random.below(1U << 20))}, 0);
  const auto pass = [&](int events) {
    for (int i = 0; i < events; ++i) {
      const Picos now = queue.pop().time;
      queue.push({now.count + static_cast<std::int64_t>(random.below(1U << 20))}, 0);
    }
  };
  pass(100000);
  allocations = 0;
  counting = true;
  pass(1000000);
  counting = false;
  EXPECT_LT(allocations, 100U);
  std::printf("allocations in a million events: %llu\n", static_cast<unsigned long long>(allocations.load()));
}

TEST(CGroup, ACallWithoutMemoryIsRefusedAndSoIsItsGroup) {
  hktComm_t comm = nullptr;
  ASSERT_EQ(hktCommInitEnv(&comm, nullptr), hktSuccess);
  float one = 1;
  float sum = 0;
  ASSERT_EQ(hktGroupStart(), hktSuccess);
  ASSERT_EQ(hktAllReduce(&one, &sum, 1, hktFloat32, hktSum, comm, nullptr), hktSuccess);
  refusing = true;
  const hktResult_t called = hktAllReduce(&one, &sum, 1, hktFloat32, hktSum, comm, nullptr);
  refusing = false;
  EXPECT_EQ(called, hktSystemError);
  EXPECT_EQ(hktGroupEnd(), hktSystemError);
  EXPECT_EQ(sum, 0) << "the first call was made without the second";
  EXPECT_STREQ(hktGetLastError(nullptr), "no call of this group is made, for one was refused: no memory");
  EXPECT_EQ(hktCommDestroy(comm), hktSuccess);
}

}  // namespace
}  // namespace hocket

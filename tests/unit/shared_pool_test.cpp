// The shares of an endpoint against closed forms, to the picosecond. Memory of 900 GB/s, compute of 120 TFLOP/s.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "simulator/shared_pool.h"

namespace hocket {
namespace {

constexpr std::uint32_t kMemory = 0, kCompute = 1, kBudget = 2;
constexpr std::array<double, 3> kCapacities{900e9, 120e12, 128e9};

struct Arrival {
  Picos begin;
  std::vector<PoolDemand> demands;
  Picos least;
};

/// The ends of all tasks, by number.
std::vector<Picos> run(const std::vector<Arrival>& arrivals, std::span<const double> capacities = kCapacities) {
  SharedPool pool(capacities);
  std::vector<Picos> ends(arrivals.size());
  std::size_t next = 0;
  Picos now;
  while (next < arrivals.size() || !pool.idle()) {
    const Picos end = pool.next_end();
    if (next < arrivals.size() && arrivals[next].begin <= end) {
      now = arrivals[next].begin;
      pool.start(arrivals[next].demands, arrivals[next].least, next, now);
      ++next;
      continue;
    }
    EXPECT_NE(end, SharedPool::kNever);
    now = end;
    while (const auto tag = pool.take_ended(now)) ends[*tag] = now;
  }
  return ends;
}

constexpr std::int64_t kUs = 1000000;

TEST(SharedPool, AloneATaskTakesItsSlowestResource) {
  EXPECT_EQ(run({{{}, {{kMemory, 900e3}}, {}}})[0].count, kUs);
  EXPECT_EQ(run({{{}, {{kMemory, 900e3}, {kCompute, 240e6}}, {}}})[0].count, 2 * kUs);
  EXPECT_EQ(run({{{}, {{kMemory, 900e3}}, {5 * kUs}}})[0].count, 5 * kUs);
  EXPECT_EQ(run({{{7}, {}, {}}})[0].count, 7);
}

// Both want all of the memory: half each, then the longer one alone. a and b alone, a <= b: 2a and a + b.
TEST(SharedPool, TwoMemoryBoundTasksShareByTheClosedForm) {
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{1, 1}, {1, 3}, {2, 5}, {7, 7.5}, {0.001, 100}}) {
    const auto ends = run({{{}, {{kMemory, a * 900e3}}, {}}, {{}, {{kMemory, b * 900e3}}, {}}});
    EXPECT_EQ(ends[0].count, std::llround(2 * a * kUs)) << a << " and " << b;
    EXPECT_EQ(ends[1].count, std::llround((a + b) * kUs));
  }
}

// A kernel at full memory bandwidth M beside communication that is held to c by its own budget: both run at M / (M +
// c).
TEST(SharedPool, ComputeAndCommunicationBothSlowDown) {
  SharedPool pool(kCapacities);
  const std::vector<PoolDemand> kernel{{kMemory, 900e3}};
  const std::vector<PoolDemand> transfer{{kMemory, 128e3}, {kBudget, 128e3}};
  pool.start(kernel, {}, 1, {});
  pool.start(transfer, {}, 2, {});
  EXPECT_DOUBLE_EQ(pool.speed_of(1), 900.0 / 1028);
  EXPECT_DOUBLE_EQ(pool.speed_of(2), 900.0 / 1028);
  const auto ends = run({{{}, kernel, {}}, {{}, transfer, {}}});
  EXPECT_EQ(ends[0].count, std::llround(1028.0 / 900 * kUs + 0.4));
  EXPECT_EQ(ends[1], ends[0]);
}

TEST(SharedPool, WhoUsesOtherResourcesIsNotSlowed) {
  const auto ends = run({{{}, {{kMemory, 900e3}}, {}}, {{}, {{kCompute, 120e6}}, {}}, {{}, {{kMemory, 900e3}}, {}}});
  EXPECT_EQ(ends[0].count, 2 * kUs);
  EXPECT_EQ(ends[1].count, kUs);
}

// The budget is full at a third of the pace; what memory it leaves goes to the kernel: (900 - 128) / 900.
TEST(SharedPool, ABudgetCapsAndLeavesTheRest) {
  SharedPool pool(kCapacities);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::vector<PoolDemand> transfer{{kMemory, 128e3}, {kBudget, 128e3}};
    pool.start(transfer, {}, i, {});
  }
  EXPECT_DOUBLE_EQ(pool.speed_of(0), 1.0 / 3);
  const std::vector<PoolDemand> kernel{{kMemory, 900e3}};
  pool.start(kernel, {}, 9, {});
  EXPECT_DOUBLE_EQ(pool.speed_of(0), 1.0 / 3);
  EXPECT_DOUBLE_EQ(pool.speed_of(9), 772.0 / 900);
}

// However a demand is cut into tasks, the others get the same.
TEST(SharedPool, CuttingADemandChangesNothing) {
  const std::vector<PoolDemand> kernel{{kMemory, 900e3}};
  std::vector<Arrival> whole{{{}, kernel, {}}, {{}, {{kMemory, 90e3}, {kBudget, 12.8e3}}, {kUs}}};
  std::vector<Arrival> parts{{{}, kernel, {}}};
  for (int i = 0; i < 10; ++i) parts.push_back({{}, {{kMemory, 9e3}, {kBudget, 1.28e3}}, {kUs}});
  EXPECT_EQ(run(whole)[0], run(parts)[0]);
}

TEST(SharedPool, ASecondTaskThatComesLaterTakesItsShareFromThen) {
  // Alone for 1 us, half speed for 2 us, then alone again: 2 us of work end at 1 + 2 x 1 ... = 3 us; the other at 4 us.
  const auto ends = run({{{}, {{kMemory, 1800e3}}, {}}, {{kUs}, {{kMemory, 1800e3}}, {}}});
  EXPECT_EQ(ends[0].count, 3 * kUs);
  EXPECT_EQ(ends[1].count, 4 * kUs);
}

TEST(SharedPool, NothingMovesWithoutCapacity) {
  SharedPool pool(std::array{0.0, 1.0});
  const std::vector<PoolDemand> kernel{{0, 5}};
  pool.start(kernel, {}, 1, {});
  EXPECT_EQ(pool.next_end(), SharedPool::kNever);
  pool.set_capacity(0, 5e12, {100});
  EXPECT_EQ(pool.next_end().count, 101);
}

// Any tasks: never faster than alone, never slower than one after another, no resource over-full, work conserved where
// all want one resource.
TEST(SharedPool, HoldsItsInvariantsForAnyTasks) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    std::vector<Arrival> arrivals;
    double serial = 0;
    Picos begin;
    for (std::uint64_t i = 0; i < 1 + random.below(12); ++i) {
      begin.count += static_cast<std::int64_t>(random.below(2 * kUs));
      Arrival a{begin, {}, {static_cast<std::int64_t>(random.below(kUs / 10))}};
      a.demands.push_back({kMemory, 1e3 * static_cast<double>(1 + random.below(3000))});
      if (random.chance(0.5)) a.demands.push_back({kCompute, 1e6 * static_cast<double>(random.below(400))});
      if (random.chance(0.5)) a.demands.push_back({kBudget, 1e2 * static_cast<double>(random.below(3000))});
      serial += static_cast<double>(SharedPool(kCapacities).lone_time(a.demands, a.least).count);
      arrivals.push_back(std::move(a));
    }
    const auto ends = run(arrivals);
    double bytes = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const Picos lone = SharedPool(kCapacities).lone_time(arrivals[i].demands, arrivals[i].least);
      EXPECT_GE((ends[i] - arrivals[i].begin).count, lone.count) << seed;
      bytes += arrivals[i].demands[0].amount;
    }
    const Picos last = *std::max_element(ends.begin(), ends.end());
    EXPECT_LE(static_cast<double>(last.count), static_cast<double>(begin.count) + serial + 100) << seed;
    EXPECT_GE(static_cast<double>(last.count) * 0.9 + 1, bytes) << seed;  // 0.9 bytes a picosecond
    EXPECT_EQ(run(arrivals), ends) << seed;
  }
}

}  // namespace
}  // namespace hocket

#include "base/queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(TransportQueue, CoalescesAndForgetsNothing) {
  ProgressQueue queue(3);
  EXPECT_TRUE(queue.empty());
  queue.add(1, 2);
  queue.add(1, 3);
  queue.add(0, 1);
  std::vector<std::uint32_t> grown(3);
  EXPECT_TRUE(queue.drain([&](std::uint32_t counter, std::uint32_t amount) { grown[counter] += amount; }));
  EXPECT_EQ(grown, (std::vector<std::uint32_t>{1, 5, 0}));
  EXPECT_FALSE(queue.drain([](std::uint32_t, std::uint32_t) { FAIL(); }));
}

TEST(TransportQueue, ManyProducersAndASleepingConsumer) {
  constexpr std::uint32_t kProducers = 3;
  constexpr std::uint32_t kEach = 20000;
  ProgressQueue queue(2 * kProducers);
  Parker parker;
  queue.set_parker(&parker);
  std::vector<std::jthread> producers;
  for (std::uint32_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&queue, p] {
      for (std::uint32_t i = 0; i < kEach; ++i) queue.add(2 * p + i % 2, 1);
    });
  }
  std::vector<std::uint64_t> total(2 * kProducers);
  std::uint64_t sum = 0;
  const SteadyTime limit = steady_clock::now() + std::chrono::seconds(60);
  while (sum < std::uint64_t{kProducers} * kEach && steady_clock::now() < limit) {
    const bool any = queue.drain([&](std::uint32_t counter, std::uint32_t amount) {
      total[counter] += amount;
      sum += amount;
    });
    if (!any) parker.park(limit, [&] { return !queue.empty(); });
  }
  EXPECT_EQ(total, std::vector<std::uint64_t>(2 * kProducers, kEach / 2));
}

TEST(TransportQueue, AParkerKeepsItsDeadlineAndNoWakeIsLost) {
  Parker parker;
  const SteadyTime start = steady_clock::now();
  parker.park(start + milliseconds(20), [] { return false; });
  EXPECT_GE(steady_clock::now() - start, milliseconds(15));
  std::atomic<int> turn{0};
  std::jthread other([&] {
    for (int i = 1; i <= 2000; ++i) {
      turn.store(i);
      parker.wake();
      while (turn.load() == i && i < 2000) std::this_thread::yield();
    }
  });
  for (int i = 1; i < 2000; ++i) {
    while (turn.load() < i)
      parker.park(steady_clock::now() + std::chrono::seconds(30), [&] { return turn.load() >= i; });
    turn.store(-i);
  }
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(25));
}

TEST(TransportQueue, TheFirstFailureWins) {
  Failure failure;
  EXPECT_FALSE(failure.set());
  EXPECT_TRUE(failure.report({Code::kPeerFailed, "first"}));
  EXPECT_FALSE(failure.report({Code::kTimeout, "second"}));
  EXPECT_TRUE(failure.set());
  EXPECT_EQ(failure.error().text, "first");
  failure.clear();
  EXPECT_FALSE(failure.set());
}

}  // namespace
}  // namespace hocket

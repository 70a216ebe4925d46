// The event queue against a sorted list: same order under any mixture of pushes and pops.
#include "base/event_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace hocket {
namespace {

TEST(EventQueue, TiesLeaveInOrderOfInsertion) {
  EventQueue<int> queue;
  for (const int i : {0, 1, 2}) queue.push({7}, i);
  queue.push({3}, 3);
  EXPECT_EQ(queue.front_time(), Picos{3});
  EXPECT_EQ(queue.pop().payload, 3);
  queue.push({7}, 4);
  EXPECT_EQ(queue.front_time(), Picos{7});
  for (const int i : {0, 1, 2}) EXPECT_EQ(queue.pop().payload, i);
  queue.push({7}, 5);  // at the time reached, behind those that wait
  for (const int i : {4, 5}) EXPECT_EQ(queue.pop().payload, i);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.now(), Picos{7});
  EXPECT_EQ(queue.count(), 6U);
}

TEST(EventQueue, LaterEventsMayComeBeforeThoseThatWait) {
  EventQueue<int> queue;
  queue.push({100}, 0);
  queue.push({60}, 1);
  EXPECT_EQ(queue.pop().payload, 1);
  queue.push({64}, 2);
  EXPECT_EQ(queue.front_time(), Picos{64});
  EXPECT_EQ(queue.pop().payload, 2);
  EXPECT_EQ(queue.pop().payload, 0);
}

/// Delays from none to 2^62 ps, many of them equal.
std::int64_t delay(Random& random, std::int64_t now) {
  if (random.chance(0.3)) return 0;
  const std::int64_t most = (std::int64_t{1} << 62) - now;
  const auto spread = static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(44)));
  return std::min(most, random.chance(0.01) ? most / 1000 : spread);
}

TEST(EventQueue, AnyMixtureComesOutSorted) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    EventQueue<std::uint32_t> queue;
    std::multimap<std::int64_t, std::uint32_t> sorted;  // equal keys keep their order of insertion
    std::uint32_t pushed = 0;
    for (int round = 0; round < 20000; ++round) {
      if (sorted.empty() || random.chance(round < 10000 ? 0.55 : 0.45)) {
        const std::int64_t time = queue.now().count + delay(random, queue.now().count);
        queue.push({time}, pushed);
        sorted.emplace(time, pushed++);
      } else {
        ASSERT_EQ(queue.front_time().count, sorted.begin()->first) << "seed " << seed;
        const auto event = queue.pop();
        ASSERT_EQ(event.time.count, sorted.begin()->first) << "seed " << seed;
        ASSERT_EQ(event.payload, sorted.begin()->second) << "seed " << seed;
        sorted.erase(sorted.begin());
      }
      ASSERT_EQ(queue.size(), sorted.size());
    }
  }
}

TEST(EventQueue, LongRunsOfOneTimeAreGivenBack) {
  EventQueue<std::uint32_t> queue;
  queue.push({5}, 0);
  for (std::uint32_t i = 1; i < 100000; ++i) {
    queue.push({5}, i);
    ASSERT_EQ(queue.pop().payload, i - 1);
  }
  EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
}  // namespace hocket

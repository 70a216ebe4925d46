// Size windows: neither holes nor overlaps, each end won by the algorithm of its window.
#include "planner/windows.h"

#include <gtest/gtest.h>

#include "topology/spec.h"

namespace hocket {
namespace {

TEST(PlannerWindows, CoverTheRangeWithTheWinners) {
  const Result<Topology> topology = topology_from_spec("torus:3x3", {});
  ASSERT_TRUE(topology);
  BoundCollective what{{CollectiveKind::kAllReduce, 9, 0}, 1};
  const Bytes from{1000};
  const Bytes to{3000000};
  const auto windows = plan_windows(*topology, what, from, to, {});
  ASSERT_TRUE(windows) << windows.error().text;
  ASSERT_GE(windows->size(), 2U) << "small and large sizes want different algorithms";
  EXPECT_EQ(windows->front().from, from);
  EXPECT_EQ(windows->back().to, to);
  for (std::size_t i = 0; i < windows->size(); ++i) {
    const SizeWindow& w = (*windows)[i];
    EXPECT_LE(w.from, w.to);
    if (i > 0) {
      EXPECT_EQ(w.from.count, (*windows)[i - 1].to.count + 1);
      EXPECT_NE(w.algorithm, (*windows)[i - 1].algorithm);
    }
    what.count = w.from.count / 4;
    const auto planning = plan_collective(*topology, what, {});
    ASSERT_TRUE(planning);
    EXPECT_EQ(planning->candidates[planning->chosen].algorithm, w.algorithm);
  }
}

TEST(PlannerWindows, SpreadMessagesWhereThatIsFaster) {
  const Result<Topology> torus = topology_from_spec("torus:4x4", {});
  ASSERT_TRUE(torus);
  BoundCollective what{{CollectiveKind::kAllReduce, 16, 0}, 1};
  const Bytes from{1 << 16};
  const Bytes to{8 << 20};
  PlanningOptions options;
  options.algorithm = "halving_doubling";
  const auto plain = plan_windows(*torus, what, from, to, options);
  options.spread = true;
  const auto spread = plan_windows(*torus, what, from, to, options);
  ASSERT_TRUE(plain && spread);
  EXPECT_LT(spread->back().time_to_s, plain->back().time_to_s);
  what.count = to.count / 4;
  const auto planning = plan_collective(*torus, what, options);
  ASSERT_TRUE(planning);
  EXPECT_EQ(spread->back().time_to_s, to_seconds(planning->candidates.front().simulated.time).value);
}

TEST(PlannerWindows, RangesAreChecked) {
  for (const char* text : {"1KiB", "1KiB:", ":1KiB", "2KiB:1KiB", "0B:1KiB", "1:2"}) {
    EXPECT_FALSE(parse_size_range(text)) << text;
  }
  const auto range = parse_size_range("1KiB:1KiB");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, range->second);
}

}  // namespace
}  // namespace hocket

// Progress: its line of text, and that planning and simulating tell it what they do and when all is sent.
#include "base/progress.h"

#include <gtest/gtest.h>

#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

using std::chrono::seconds;

TEST(Progress, LineSaysStepShareAndTimeLeft) {
  const std::chrono::steady_clock::time_point start{};
  EXPECT_EQ(text_of({"computing the bound", 0, 0, start}, start + seconds(9)), "computing the bound");
  EXPECT_EQ(text_of({"simulating ring", 0, 100, start}, start + seconds(9)), "simulating ring: 0 %");
  EXPECT_EQ(text_of({"simulating ring", 25, 100, start}, start + seconds(10)), "simulating ring: 25 %, 30 s left");
  EXPECT_EQ(text_of({"simulating ring", 200, 100, start}, start + seconds(10)), "simulating ring: 100 %, 0 s left");
  EXPECT_EQ(text_of({"simulating ring", 25, 100, start}, start, 10), "simulating");
}

TEST(Progress, StepsStartAnew) {
  Progress progress;
  progress.begin("one");
  progress.expect(10);
  progress.set_done(7);
  EXPECT_EQ(progress.state().done, 7U);
  progress.begin("two");
  EXPECT_EQ(progress.state().step, "two");
  EXPECT_EQ(progress.state().total, 0U);
  EXPECT_EQ(progress.state().done, 0U);
}

TEST(Progress, SimulationCountsEverySegment) {
  const Topology topology = *topology_from_spec("ring:8", {});
  const BoundCollective what{.collective = {CollectiveKind::kAllReduce, 8, 0}, .count = 1 << 20};
  Progress progress;
  PlanningOptions options;
  options.algorithm = "ring";
  options.segment = {64 << 10};
  options.simulate.progress = &progress;
  const auto planning = plan_collective(topology, what, options);
  ASSERT_TRUE(planning.has_value()) << planning.error().text;
  const Progress::State state = progress.state();
  EXPECT_EQ(state.step, "simulating 4MiB by ring");
  EXPECT_EQ(state.total, planning->candidates[0].simulated.segments);
  EXPECT_EQ(state.done, state.total);
}

}  // namespace
}  // namespace hocket

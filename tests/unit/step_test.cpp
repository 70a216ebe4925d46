// Training steps on shared endpoints against closed forms, to the picosecond.
#include <gtest/gtest.h>

#include "simulator/endpoint_costs.h"
#include "support/step_world.h"

namespace hocket {
namespace {

using test::all_reduce_node;
using test::kernel_node;
using test::StepWorld;
using test::workload_of;

constexpr std::int64_t kUs = 1000000;

/// Two npus on a ring; memory of 1 TB/s, links of 100 GB/s and 1 us, 100 units of 1 TFLOP/s in all.
Platform pair() {
  Platform p;
  p.name = "pair";
  p.network.topology = "ring:2";
  p.network.links = {{{100e9, ""}, {1e-6, ""}}};
  p.endpoint.compute_units = Figure{100, ""};
  p.endpoint.memory_bandwidth = Figure{1e12, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e12, ""};
  p.engines = {{.name = "kernels", .kind = EngineKind::kComputeUnits}};
  p.engines[0].units = Figure{10, ""};
  p.engines[0].chunk = Figure{double{1 << 30}, ""};
  p.engines[0].message = Figure{double{1 << 30}, ""};
  return p;
}

StepWorld pair_world() {
  StepWorld world(pair());
  world.algorithm = "ring";
  return world;
}

// A ring of two with S / 2 = 1 MB: fetch (1 read), link, landing (1 write), fused sum and send (2 reads, 1 write of the
// result), link, last write: 6 us of memory and 2 x (10 us + 1 us) of links.
constexpr std::int64_t kPairBytes = 2000000;
constexpr std::int64_t kPairAlone = 6 * kUs + 22 * kUs;

TEST(Step, AllReduceAloneIsItsClosedForm) {
  EXPECT_EQ(pair_world().run(workload_of({all_reduce_node(kPairBytes)}), "kernels").time.count, kPairAlone);
}

TEST(Step, KernelAloneIsItsRoofline) {
  const StepWorld world = pair_world();
  EXPECT_EQ(world.run(workload_of({kernel_node(5e6, 1e6)}), "kernels").time.count, 5 * kUs);
  EXPECT_EQ(world.run(workload_of({kernel_node(5e6, 9e6)}), "kernels").time.count, 9 * kUs);
}

// A kernel at full memory bandwidth beside an all-reduce: every access of the collective goes half as fast, and the
// kernel loses as much as the collective moves. In a simulator without a shared endpoint both keep their lone times.
TEST(Step, KernelAtFullMemoryBandwidthBesideAnAllReduceSlowsBoth) {
  const StepWorld world = pair_world();
  const StepResult r = world.run(workload_of({kernel_node(0, 60e6), all_reduce_node(kPairBytes)}), "kernels");
  EXPECT_EQ(r.communication.count, kPairAlone + 6 * kUs);
  EXPECT_EQ(r.time.count, 60 * kUs + 6 * kUs);
  EXPECT_EQ(r.compute_alone.count, 60 * kUs);
  EXPECT_DOUBLE_EQ(r.compute_slowdown(), 66.0 / 60);
  EXPECT_EQ(r.exposed.count, 0);
  EXPECT_EQ(r.hidden_fraction(), 1);
}

// Only the units that communication holds are lost, and only while it holds them: 10 of 100.
TEST(Step, KernelAtFullRateLosesTheUnitsOfCommunication) {
  const StepWorld world = pair_world();
  const StepResult r = world.run(workload_of({kernel_node(60e6, 0), all_reduce_node(kPairBytes)}), "kernels");
  EXPECT_EQ(r.communication.count, kPairAlone);
  EXPECT_EQ(r.time.count, kPairAlone + (60 * kUs - kPairAlone * 9 / 10));
}

// The first collective finds no kernel running and takes its units; the second one is launched in the middle of a
// kernel that holds what the first gave back. With reservation it starts at once.
TEST(Step, LaunchedBehindAKernelCommunicationWaitsForItsUnits) {
  Workload w = workload_of({kernel_node(60e6, 0), all_reduce_node(kPairBytes), all_reduce_node(kPairBytes, {1})});
  const std::int64_t kernel_left = 60 * kUs - kPairAlone * 9 / 10;
  const StepResult reserved = pair_world().run(w, "kernels");
  EXPECT_EQ(reserved.time.count, 2 * kPairAlone + kernel_left - kPairAlone * 9 / 10);
  EXPECT_EQ(reserved.exposed.count, 0);
  Platform p = pair();
  p.engines[0].first = UnitPriority::kCompute;
  StepWorld world(p);
  world.algorithm = "ring";
  const StepResult behind = world.run(w, "kernels");
  EXPECT_EQ(behind.time.count, kPairAlone + kernel_left + kPairAlone);
  EXPECT_EQ(behind.exposed.count, kPairAlone);
}

TEST(Step, StaticSplitTakesTheBudgetAwayAlways) {
  Platform p = pair();
  p.engines[0].split = BudgetSplit::kStatic;
  p.engines[0].memory_bandwidth = Figure{250e9, ""};
  StepWorld world(p);
  world.algorithm = "ring";
  EXPECT_EQ(world.run(workload_of({kernel_node(0, 30e6)}), "kernels").time.count, 40 * kUs);
  EXPECT_EQ(world.run(workload_of({all_reduce_node(kPairBytes)}), "kernels").time.count, 24 * kUs + 22 * kUs);
  const StepResult both = world.run(workload_of({kernel_node(0, 60e6), all_reduce_node(kPairBytes)}), "kernels");
  EXPECT_EQ(both.time.count, 80 * kUs);
  EXPECT_EQ(both.communication.count, 46 * kUs);
}

// The budget holds communication to a quarter; the kernel gets what is left of the memory, and all of it when
// communication is on its links.
TEST(Step, ABudgetCapsCommunicationAndLeavesTheRest) {
  Platform p = pair();
  p.engines[0].memory_bandwidth = Figure{250e9, ""};
  StepWorld world(p);
  world.algorithm = "ring";
  EXPECT_EQ(world.run(workload_of({all_reduce_node(kPairBytes)}), "kernels").time.count, 24 * kUs + 22 * kUs);
  const StepResult r = world.run(workload_of({kernel_node(0, 90e6), all_reduce_node(kPairBytes)}), "kernels");
  EXPECT_EQ(r.time.count, 96 * kUs);  // bytes are bytes: 90 us of its own and 6 us of the collective's
  EXPECT_EQ(r.communication.count, 30 * kUs + 22 * kUs);  // 1250 for 1000: every access at four fifths of a quarter
}

TEST(Step, ReadsOnlyAreChargedWhenAskedTo) {
  Platform p = pair();
  p.engines[0].charge = MemoryCharge::kReads;
  StepWorld world(p);
  world.algorithm = "ring";
  const StepResult r = world.run(workload_of({all_reduce_node(kPairBytes)}), "kernels");
  EXPECT_EQ(r.time.count, 3 * kUs + 22 * kUs);
  EXPECT_EQ(r.memory_bytes_read, 3e6);
  EXPECT_EQ(r.memory_bytes_written, 3e6);
  EXPECT_EQ(r.sent_bytes, 2e6);
}

TEST(Step, WithoutOverlapCommunicationFollowsCompute) {
  Platform p = pair();
  p.engines[0].overlaps = false;
  StepWorld world(p);
  world.algorithm = "ring";
  const StepResult r = world.run(workload_of({all_reduce_node(kPairBytes), kernel_node(40e6, 0)}), "kernels");
  EXPECT_EQ(r.time.count, 40 * kUs + kPairAlone);
  EXPECT_EQ(r.exposed.count, kPairAlone);
  EXPECT_EQ(r.exposed_for.at("all_reduce of weight_gradient").count, kPairAlone);
  EXPECT_EQ(r.hidden_fraction(), 0);
  EXPECT_EQ(r.compute_slowdown(), 1);
}

TEST(Step, TheNextStepWaitsForWhatItNeeds) {
  const StepWorld world = pair_world();
  Workload w = workload_of({kernel_node(10e6, 0), all_reduce_node(kPairBytes, {0})});
  w.nodes[0].after_previous = {1};
  EXPECT_EQ(world.run(w, "kernels", {.steps = 3}).time.count, 3 * (10 * kUs + kPairAlone));
}

TEST(Step, RefusesWhatCannotBe) {
  const StepWorld world = pair_world();
  const CommunicationEngine& engine = world.platform.engines[0];
  Workload circle = workload_of({kernel_node(1, 1, {1}), kernel_node(1, 1, {0})});
  EXPECT_NE(world.try_run(circle, engine).error().text.find("in a circle, node 'kernel'"), std::string::npos);
  Workload other = workload_of({kernel_node(1, 1)});
  other.nodes[0].compute.type = DataType::kI8;
  EXPECT_NE(world.try_run(other, engine).error().text.find("computes in i8"), std::string::npos);
  EXPECT_FALSE(world.try_run(workload_of({kernel_node(-1, 1)}), engine));
  EXPECT_FALSE(world.try_run(workload_of({kernel_node(1, 1, {7})}), engine));
  EXPECT_FALSE(world.try_run(workload_of({}), engine));
  // Communication that may use no unit never moves: named, exit code 1.
  Platform none = pair();
  none.engines[0].units.reset();
  none.endpoint.unit_bandwidth = Figure{1e9, ""};
  CommunicationEngine stuck = none.engines[0];
  stuck.units = Figure{0, ""};
  StepWorld still(none);
  still.algorithm = "ring";
  const auto result = still.try_run(workload_of({all_reduce_node(kPairBytes)}), stuck);
  ASSERT_FALSE(result);
  EXPECT_EQ(exit_code(result.error().code), 1);
  EXPECT_NE(result.error().text.find("node 0 'all_reduce' (rank 0)"), std::string::npos) << result.error().text;
}

}  // namespace
}  // namespace hocket

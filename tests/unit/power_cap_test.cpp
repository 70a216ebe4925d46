// Power caps against closed forms: the clock of a kernel bound by operations, one bound by memory, and what no clock
// holds.
#include "simulator/power_cap.h"

#include <gtest/gtest.h>

#include "simulator/step_energy.h"
#include "support/graph_world.h"

namespace hocket {
namespace {

using test::graph_with;
using test::GraphWorld;

constexpr double kRate = 1e14, kIdle = 50, kPerFlop = 2e-12;

GraphWorld world() {
  Platform p = platform_from_words("h100:2").value();
  p.endpoint.memory_bandwidth = Figure{1e12, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{kRate, ""};
  p.power = {.idle = Figure{kIdle, ""},
             .limit = {},
             .per_flop = Figure{kPerFlop, ""},
             .per_memory_byte = Figure{1e-10, ""},
             .per_link_byte = {}};
  return GraphWorld(std::move(p), "ring");
}

TaskGraph kernels(double flops, double memory_bytes) {
  Task t{.name = "kernel", .place = "node 1"};
  t.compute = {flops, DataType::kF16, memory_bytes, {}};
  return graph_with({{t}, {t}});
}

// P(f) = idle + per_flop x rate x f x k(f): 250 W at the full clock, falling with its third power down to the knee.
TEST(PowerCap, HoldsTheHighestClockOfAKernelBoundByOperations) {
  const GraphWorld w = world();
  const auto power_at = [](int step) {
    const double f = static_cast<double>(step) / kFrequencySteps;
    return kIdle + kPerFlop * kRate * f * energy_scale(f);
  };
  for (const double cap : {249.0, 200.0, 130.0, 100.0, 70.0}) {
    int expected = kFrequencySteps;
    while (power_at(expected) > cap) --expected;
    const StepResult r = w.try_run(kernels(1e11, 0), {.power_cap_W = cap}).value().step;
    EXPECT_EQ(r.frequency, static_cast<double>(expected) / kFrequencySteps) << cap;
    EXPECT_NEAR(to_seconds(r.time).value, 1e11 / kRate / r.frequency, 1e-12);
    EXPECT_NEAR(*step_power(r, w.platform.power), power_at(expected), 1e-6);
  }
  EXPECT_EQ(w.try_run(kernels(1e11, 0), {.power_cap_W = 251}).value().step.frequency, 1);
}

// 1e9 operations and 1e9 bytes: 10 us of the units, 1 ms of the memory, which has a clock of its own.
TEST(PowerCap, AKernelBoundByMemoryKeepsItsTime) {
  const GraphWorld w = world();
  const StepResult free = w.try_run(kernels(1e9, 1e9)).value().step;
  const double uncapped = *step_power(free, w.platform.power);
  EXPECT_NEAR(uncapped, kIdle + (kPerFlop * 1e9 + 1e-10 * 1e9) / 1e-3, 1e-6);
  const StepResult r = w.try_run(kernels(1e9, 1e9), {.power_cap_W = uncapped - 0.5}).value().step;
  EXPECT_LT(r.frequency, 1);
  EXPECT_EQ(r.time.count, free.time.count);
}

TEST(PowerCap, RefusesWhatNoClockHoldsAndWhatIsNotKnown) {
  GraphWorld w = world();
  const auto below = w.try_run(kernels(1e11, 0), {.power_cap_W = kIdle});
  ASSERT_FALSE(below);
  EXPECT_EQ(exit_code(below.error().code), 1);
  EXPECT_NE(below.error().text.find("a power cap of 50 W does not hold: an npu takes 59.6 W at 8/64 of its clock"),
            std::string::npos)
      << below.error().text;
  EXPECT_EQ(exit_code(w.try_run(kernels(1e11, 0), {.power_cap_W = -1}).error().code), 2);
  TaskGraph stated = kernels(1e11, 0);
  stated.programs[0].tasks[0].compute.stated = Seconds{1e-3};
  EXPECT_NE(w.try_run(stated, {.power_cap_W = 100}).error().text.find("times in place of operations"),
            std::string::npos);
  w.platform.power.idle.reset();
  EXPECT_NE(w.try_run(kernels(1e11, 0), {.power_cap_W = 100}).error().text.find("states no idle power"),
            std::string::npos);
}

}  // namespace
}  // namespace hocket

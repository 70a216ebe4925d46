// Gradient buckets of task graphs, memory stated in workload files, and energy of steps.
#include "workload/buckets.h"

#include <gtest/gtest.h>

#include "exchange/workload_yaml.h"
#include "simulator/step_energy.h"
#include "support/graph_world.h"
#include "workload/model.h"

namespace hocket {
namespace {

using test::GraphWorld;

/// Two layers backward and a forward that waits for both; an all-reduce that its own step waits for.
constexpr std::string_view kTwoLayers = R"(hocket: workload
name: "two layers"
source: "tests"
ranks: 4
memory: {parameters: 2MB, gradients: 4000000, optimizer: 12MB, activations: 1e6}
groups: {}
programs:
  - ranks: all
    tasks:
      - {name: "forward", flops: 1e9, after_previous: [2, 4]}
      - {name: "backward 2", flops: 1e9, after: [0]}
      - {name: "gradients 2", phase: weight_gradient, all_reduce: 1MiB, after: [1]}
      - {name: "backward 1", flops: 1e9, after: [1]}
      - {name: "gradients 1", phase: weight_gradient, all_reduce: 3MiB, after: [3]}
      - {name: "norm", phase: weight_gradient, all_reduce: 1KiB, after: [3]}
      - {name: "clip", flops: 1e6, after: [5]}
)";

TaskGraph two_layers() { return read_workload_yaml(kTwoLayers, "two.yaml").value(); }

TEST(Buckets, GatherCallsThatNothingOfTheirStepWaitsFor) {
  const TaskGraph graph = with_buckets(two_layers(), Bytes{1 << 24});
  ASSERT_TRUE(validate(graph));
  const std::vector<Task>& tasks = graph.programs[0].tasks;
  ASSERT_EQ(tasks.size(), 6U);
  EXPECT_EQ(tasks[0].after_previous, std::vector<NodeId>{3});
  EXPECT_EQ(tasks[3].name, "gradients of 2 tasks");
  EXPECT_EQ(tasks[3].collective->what.bytes.count, 4 << 20);
  EXPECT_EQ(tasks[3].after, (std::vector<NodeId>{1, 2}));
  EXPECT_EQ(tasks[4].name, "norm");
  EXPECT_EQ(tasks[5].after, std::vector<NodeId>{4});
  EXPECT_EQ(graph.collective_bytes(), two_layers().collective_bytes());
}

TEST(Buckets, CloseWhenTheyAreFull) {
  EXPECT_EQ(with_buckets(two_layers(), Bytes{1 << 20}).programs[0].tasks.size(), 7U);
  const TaskGraph resnet = graph_of(workload_from_model("resnet50", {}).value(), 4);
  const TaskGraph gathered = with_buckets(resnet, Bytes{25 << 20});
  ASSERT_TRUE(validate(gathered));
  std::size_t calls = 0;
  for (const Task& task : gathered.programs[0].tasks) calls += task.collective ? 1 : 0;
  EXPECT_EQ(calls, 4U);  // 102 MB of gradients in buckets of 25 MiB
  EXPECT_EQ(gathered.collective_bytes(), resnet.collective_bytes());
}

// What the built-in models do with --bucket, to the picosecond.
TEST(Buckets, OfAGraphAreThoseOfTheModel) {
  const GraphWorld world("ace:4x2x1", "");
  const Bytes bucket{8 << 20};
  const TaskGraph by_graph = with_buckets(graph_of(workload_from_model("resnet50", {}).value(), 8), bucket);
  const TaskGraph by_model = graph_of(workload_from_model("resnet50", {.bucket = bucket}).value(), 8);
  EXPECT_EQ(world.run(by_graph).step.time.count, world.run(by_model).step.time.count);
}

TEST(WorkloadMemory, IsReadWrittenAndRefused) {
  const TaskGraph graph = two_layers();
  ASSERT_TRUE(graph.memory);
  EXPECT_EQ(graph.memory->total(), 2e6 + 4e6 + 12e6 + 1e6);
  const TaskGraph again = read_workload_yaml(write_workload_yaml(graph).value(), "again.yaml").value();
  ASSERT_TRUE(again.memory);
  EXPECT_EQ(again.memory->optimizer, 12e6);
  EXPECT_EQ(again.memory->activations, 1e6);
  const auto refusal = [](std::string_view from, std::string_view to) {
    std::string text(kTwoLayers);
    text.replace(text.find(from), from.size(), to);
    const auto read = read_workload_yaml(text, "two.yaml");
    return read ? std::string() : read.error().text;
  };
  EXPECT_EQ(refusal("gradients: 4000000, ", ""), "two.yaml:5:9: key 'gradients' is missing");
  EXPECT_EQ(refusal("optimizer: 12MB", "optimiser: 12MB"),
            "two.yaml:5:47: unknown key 'optimiser', did you mean 'optimizer'?");
  EXPECT_NE(refusal("2MB", "-2MB").find("two.yaml:5:22: parameters: '-2MB'"), std::string::npos)
      << refusal("2MB", "-2MB");
  EXPECT_NE(
      refusal("{parameters: 2MB, gradients: 4000000, optimizer: 12MB, activations: 1e6}", "3GB").find("not a map"),
      std::string::npos);
}

TEST(StepEnergy, IsTheSumOfItsParts) {
  GraphWorld world("ace:4x1x1", "");
  world.platform.power = {.idle = Figure{40, ""},
                          .limit = {},
                          .per_flop = Figure{1e-12, ""},
                          .per_memory_byte = Figure{2e-11, ""},
                          .per_link_byte = Figure{3e-11, ""}};
  for (const bool fold : {true, false}) {
    const StepResult r = world.try_run(two_layers(), {.fold = fold}).value().step;
    EXPECT_EQ(r.all_flops, 4 * 3.001e9);
    EXPECT_EQ(r.all_memory_bytes, 4 * (r.compute_memory_bytes + r.memory_bytes_read + r.memory_bytes_written));
    EXPECT_DOUBLE_EQ(*step_energy(r, world.platform.power), 4 * 40 * to_seconds(r.time).value + 1e-12 * r.all_flops +
                                                                2e-11 * r.all_memory_bytes + 3e-11 * r.network_bytes);
  }
  world.platform.power.per_flop.reset();
  const StepResult r = world.try_run(two_layers()).value().step;
  EXPECT_EQ(step_energy(r, world.platform.power), std::nullopt);
  world.platform.power.per_flop = Figure{1e-12, ""};
  StepResult stated = r;
  stated.has_stated_compute = true;
  EXPECT_EQ(step_energy(stated, world.platform.power), std::nullopt);
}

}  // namespace
}  // namespace hocket

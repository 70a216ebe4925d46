// The ends of what task graphs may ask for: simulated time, pieces of collectives and messages, idle ranks. Each is
// refused with the task that asks for it, never by an abort, a deadlock that is none, or a run without end.
#include <gtest/gtest.h>

#include "exchange/workload_yaml.h"
#include "support/graph_world.h"

namespace hocket {
namespace {

using test::GraphWorld;

TaskGraph graph_of_programs(const std::string& programs) {
  const auto graph = read_workload_yaml("hocket: workload\nname: x\nranks: 2\nprograms:\n" + programs, "y.yaml");
  EXPECT_TRUE(graph) << graph.error().text;
  return graph.value_or(TaskGraph{});
}

TaskGraph graph_of_tasks(const std::string& tasks) {
  return graph_of_programs("  - {ranks: all, tasks: [" + tasks + "]}\n");
}

void expect_refused(const GraphWorld& world, const TaskGraph& graph, const std::string& said,
                    Code code = Code::kUnsupported) {
  const auto result = world.try_run(graph);
  ASSERT_FALSE(result) << said;
  EXPECT_EQ(result.error().code, code);
  EXPECT_NE(result.error().text.find(said), std::string::npos) << result.error().text;
}

TEST(GraphLimits, ComputeBeyondTheClockIsNamed) {
  const GraphWorld world("h100:2");
  const std::string end = "simulated time ends at 2^62 ps (4.612e+06 s)";
  expect_refused(world, graph_of_tasks("{name: a, flops: 1e24, type: f16}"),
                 "y.yaml: line 5 'a' (rank 0) takes 1.011e+09 s by itself and begins at 0 s: " + end);
  expect_refused(world, graph_of_tasks("{name: a, flops: 1e300, type: f16}"), "'a' (rank 0) takes 1.011e+285 s");
  expect_refused(world, graph_of_tasks("{name: a, memory: 1e300}"), "'a' (rank 0) takes");
}

TEST(GraphLimits, ASlowRateIsAsGoodAsMuchWork) {
  Platform slow = platform_from_words("h100:2").value();
  slow.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e-288, ""};
  expect_refused(GraphWorld(slow), graph_of_tasks("{name: a, flops: 1e9, type: f16}"), "'a' (rank 0) takes 1e+297 s");
}

TEST(GraphLimits, TasksThatGoBeyondTheClockTogetherAreNoDeadlock) {
  const GraphWorld world("h100:2");
  for (const std::string key : {"time", "host"}) {
    std::string tasks;
    for (const char name : {'a', 'b', 'c', 'd', 'e', 'f'})
      tasks += fmt::format("{}{{name: {}, {}: 1e6s}}", tasks.empty() ? "" : ", ", name, key);
    expect_refused(world, graph_of_tasks(tasks), "'e' (rank 0) takes 1e+06 s by itself and begins at 4e+06 s");
  }
  const auto most =
      world.try_run(graph_of_tasks("{time: 1e6s}, {time: 1e6s}, {time: 1e6s}, {time: 1e6s}, {time: 6e5s}"));
  ASSERT_TRUE(most) << most.error().text;
  EXPECT_NEAR(to_seconds(most->step.time).value, 4.6e6, 1e-3);
}

TEST(GraphLimits, TrafficThatEndsBeyondTheClockIsNoDeadlock) {
  Platform slow = platform_from_words("h100:2").value();
  slow.endpoint.bus_bandwidth = Figure{1, ""};
  expect_refused(GraphWorld(slow), graph_of_tasks("{name: a, all_reduce: 100MB}"),
                 "'a' (rank 0): its memory traffic that goes on at ");
}

TEST(GraphLimits, LinksThatAreHeldBeyondTheClockAreNamed) {
  Platform slow = platform_from_words("h100:2").value();
  for (PlatformLink& link : slow.network.links) link.bandwidth = Figure{1, ""};
  expect_refused(GraphWorld(slow),
                 graph_of_programs("  - {ranks: [0], tasks: [{name: s, send: 9MB, to: 1}]}\n"
                                   "  - {ranks: [1], tasks: [{name: r, receive: 9MB, from: 0}]}\n"),
                 "'s' (rank 0) holds a link for ");
  slow.engines[0].chunk = slow.engines[0].message = Figure{4e9, ""};
  expect_refused(GraphWorld(slow), graph_of_tasks("{name: a, all_reduce: 4GB}"), "hold a link for 2e+09 s: at most");
}

TEST(GraphLimits, ManyPiecesAreRefusedBeforeAnythingIsPlanned) {
  const GraphWorld world("h100:2");
  expect_refused(world, graph_of_tasks("{name: a, all_reduce: 1e18B, type: f16}"),
                 "y.yaml: line 5 'a': 953674316407 chunks of 1MiB, 953674316407 in all: at most 67108864",
                 Code::kResourceExhausted);
  expect_refused(world, graph_of_tasks("{name: a, all_reduce: 1e15B, type: f16}"), "'a': 953674317 chunks",
                 Code::kResourceExhausted);
  expect_refused(world,
                 graph_of_programs("  - {ranks: [0], tasks: [{name: s, send: 1e17B, to: 1, tag: 1}]}\n"
                                   "  - {ranks: [1], tasks: [{name: r, receive: 1e17B, from: 0, tag: 1}]}\n"),
                 "'s': 762939453125 segments of 128KiB, 1525878906250 in all", Code::kResourceExhausted);
}

TEST(GraphLimits, ARankWithoutTasksIsIdle) {
  const TaskGraph graph =
      graph_of_programs("  - {ranks: [0], tasks: [{name: a, time: 1ms}]}\n  - {ranks: [1], tasks: []}\n");
  const auto result = GraphWorld("h100:2").try_run(graph);
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->step.time.count, 1000000000);
  const auto again = read_workload_yaml(write_workload_yaml(graph).value(), "again.yaml");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->program(1).tasks.empty());
}

TEST(GraphLimits, AMissingMemberAndNothingAtAllAreNamed) {
  const auto error_of = [](const std::string& programs) {
    const auto graph = read_workload_yaml("hocket: workload\nname: x\nranks: 2\nprograms:\n" + programs, "y.yaml");
    return graph ? std::string() : graph.error().text;
  };
  EXPECT_NE(error_of("  - {ranks: [0], tasks: [{all_reduce: 1MB}]}\n  - {ranks: [1], tasks: []}\n")
                .find("rank 1 calls 0 (y.yaml); rank 0 calls all_reduce"),
            std::string::npos);
  EXPECT_EQ(error_of("  - {ranks: all, tasks: []}\n"), "y.yaml: no rank of 'x' has anything to do");
  EXPECT_NE(error_of("  - {ranks: all, tasks: [{name: a, time: 1s, after: [1]}, {name: b, time: 1s, after: [0]}]}\n")
                .find("in a circle: line 5 'a' -> line 5 'b' -> line 5 'a'"),
            std::string::npos);
}

}  // namespace
}  // namespace hocket

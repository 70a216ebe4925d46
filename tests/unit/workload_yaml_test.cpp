// Workload YAML: read, written and read again as the same graph, and refused with line and column.
#include <gtest/gtest.h>

#include "base/file.h"
#include "exchange/doctor.h"
#include "exchange/load_graph.h"
#include "exchange/workload_yaml.h"
#include "support/graph_world.h"
#include "workload/model.h"

namespace hocket {
namespace {

const std::string kExample = HOCKET_SOURCE_DIR "/examples/pipeline.yaml";

TEST(WorkloadYaml, TheExampleRunsAndComesBackTheSame) {
  const test::GraphWorld world("h100:4");
  const auto imported = load_graph({{kExample}, false, "", DataType::kF16}, {4, {4}}).value();
  EXPECT_EQ(imported.counts[0], "tasks: 5 read, 5 kept");
  const std::string text = write_workload_yaml(imported.graph).value();
  const TaskGraph again = read_workload_yaml(text, "copy").value();
  EXPECT_EQ(write_workload_yaml(again).value(), text);
  EXPECT_EQ(world.run(again).step.time.count, world.run(imported.graph).step.time.count);
  const Diagnosis diagnosis = diagnose_file(kExample).value();
  EXPECT_EQ(diagnosis.format, "hocket-workload");
  EXPECT_EQ(diagnosis.examination.round_trip, RoundTrip::kSame);
}

TEST(WorkloadYaml, ABuiltInWorkloadTakesTheSameTimeFromAFile) {
  const test::GraphWorld world("ace:2x2x1");
  const TaskGraph graph = graph_of(workload_from_model("dlrm", {.batch = 4}).value(), 4);
  const TaskGraph again = read_workload_yaml(write_workload_yaml(graph).value(), "copy").value();
  for (const CommunicationEngine& engine : world.platform.engines) {
    const StepOptions two{.steps = 2};
    EXPECT_EQ(simulate_graph(graph, world.machine(engine), world.chooser(), two).value().step.time.count,
              simulate_graph(again, world.machine(engine), world.chooser(), two).value().step.time.count);
  }
}

void expect_refused(const std::string& text, const std::string& message) {
  const auto graph = read_workload_yaml(text, "w.yaml");
  ASSERT_FALSE(graph) << text;
  EXPECT_EQ(exit_code(graph.error().code), 2);
  EXPECT_EQ(graph.error().text, message);
}

std::string with_task(const std::string& task) {
  return fmt::format("hocket: workload\nranks: 2\nprograms:\n  - ranks: all\n    tasks:\n      - {{{}}}\n", task);
}

TEST(WorkloadYaml, RefusesWithLineAndColumn) {
  expect_refused("hocket: platform\nranks: 1\n", "w.yaml:1:1: no 'hocket: workload'");
  expect_refused("hocket: workload\nranks: 0\nprograms: []\n", "w.yaml:2:8: ranks: 0");
  expect_refused("hocket: workload\nranks: 1\nprograms: []\n", "w.yaml:3:11: rank 0 has no program");
  expect_refused("hocket: workload\nprograms: []\n", "w.yaml:1:1: key 'ranks' is missing");
  expect_refused(with_task("flop: 1"), "w.yaml:6:10: unknown key 'flop', did you mean 'flops'?");
  expect_refused(with_task("flops: -1"), "w.yaml:6:17: flops: '-1' is no number from 0");
  expect_refused(with_task("time: 5"), "w.yaml:6:16: time: '5' is not a time: needs a unit (s, ms, us, ns, ps)");
  expect_refused(with_task("all_reduce: 8B, group: tp"), "w.yaml:6:33: group 'tp' is unknown");
  expect_refused(with_task("all_reduce: 8B, reduce: 8B"), "w.yaml:6:34: two collectives in one task");
  expect_refused(with_task("send: 8B, from: 1"), "w.yaml:6:9: 'from' of a send");
  expect_refused(with_task("send: 8B, to: 2"), "w.yaml:6:24: to: '2' is no whole number from 0 to 1");
  expect_refused(with_task("time: 1us, flops: 7"),
                 "w.yaml:6:28: 'flops' beside 'time': a time stands in place of operations and traffic");
  expect_refused(with_task("host: 1us, memory: 7B"),
                 "w.yaml:6:29: 'memory' beside 'host': a time stands in place of operations and traffic");
  expect_refused(with_task("time: 1us, tag: 2"), "w.yaml:6:26: 'tag' without a message");
  expect_refused(with_task("time: 1us, after: [0]"),
                 "w.yaml: 1 tasks wait for one another in a circle: line 6 'task' -> line 6 'task'");
  expect_refused(with_task("time: 1us, after: [1]"), "w.yaml:6:29: after: '1' is no whole number from 0 to 0");
  expect_refused("hocket: workload\nranks: 2\nprograms:\n  - {ranks: [0, 0], tasks: [{time: 1us}]}\n",
                 "w.yaml:4:13: rank 0 has two programs");
}

}  // namespace
}  // namespace hocket

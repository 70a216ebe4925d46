// Workloads side by side: apart they do not see each other, on one link they share it; ranks are checked.
#include "workload/placed_graphs.h"

#include <gtest/gtest.h>

#include "support/graph_world.h"
#include "workload/parallel.h"

namespace hocket {
namespace {

using test::graph_with;
using test::GraphWorld;

/// A send of 1 MB from its rank 0 to its rank 1.
TaskGraph transfer() {
  Task send{.name = "send", .place = "node 0"}, receive{.name = "receive", .place = "node 0"};
  send.message = TaskMessage{true, 1, 7, {1000000}};
  receive.message = TaskMessage{false, 0, 7, {1000000}};
  return graph_with({{send}, {receive}});
}

Platform line_of(const std::string& topology) {
  Platform p;
  p.name = "line";
  p.network.topology = topology;
  p.network.links = {{{1e9, ""}, {1e-9, ""}}};
  p.endpoint.compute_units = Figure{1, ""};
  p.endpoint.memory_bandwidth = Figure{1e15, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e12, ""};
  p.engines = {{.name = "ideal", .kind = EngineKind::kIdeal}};
  return p;
}

double last_of(const GraphResult& result, const std::vector<std::uint32_t>& ranks) {
  Picos last;
  for (const std::uint32_t rank : ranks) last = std::max(last, result.ended[rank]);
  return to_seconds(last).value;
}

TEST(PlacedGraphs, ApartTheyDoNotSeeEachOther) {
  const TaskGraph job = transfer();
  const std::vector<PlacedGraph> both{{job, {0, 1}}, {job, {2, 3}}};
  const GraphWorld world(line_of("line:4"));
  const GraphResult result = world.run(join_graphs(both, 4).value());
  const GraphResult alone = world.run(join_graphs({both.data(), 1}, 4).value());
  EXPECT_EQ(result.messages, 2U);
  EXPECT_EQ(last_of(result, {0, 1}), last_of(alone, {0, 1}));
  EXPECT_EQ(last_of(result, {2, 3}), last_of(alone, {0, 1}));
  EXPECT_NEAR(last_of(alone, {0, 1}), 1e-3, 1e-6);
}

// 0 -> 2 and 1 -> 3 on a line both take the link from 1 to 2: two megabytes in two milliseconds.
TEST(PlacedGraphs, OnOneLinkTheyShareIt) {
  const TaskGraph job = transfer();
  const std::vector<PlacedGraph> both{{job, {0, 2}}, {job, {1, 3}}};
  const GraphResult result = GraphWorld(line_of("line:4")).run(join_graphs(both, 4).value());
  EXPECT_NEAR(last_of(result, {0, 1, 2, 3}), 2e-3, 0.2e-3);
  EXPECT_GT(last_of(result, {0, 2}), 1.7e-3);
  EXPECT_GT(last_of(result, {1, 3}), 1.7e-3);
}

// On a switch no link is shared: a spread model beside another takes exactly what it takes alone, groups keep their
// names.
TEST(PlacedGraphs, ModelsKeepTheirGroups) {
  ModelRequest request{.batch = 2, .sequence = 32};
  const LayeredModel model = layered_model("bert", request).value();
  const ParallelPlan plan = plan_parallel(model, request, {.tensor = 2, .pipeline = 2}, 4).value();
  const TaskGraph job = parallel_graph(model, request, plan);
  const std::vector<PlacedGraph> both{{job, {0, 2, 4, 6}}, {job, {1, 3, 5, 7}}};
  const TaskGraph joined = join_graphs(both, 8).value();
  ASSERT_TRUE(validate(joined)) << validate(joined).error().text;
  ASSERT_EQ(joined.divisions.size(), 4U);
  EXPECT_EQ(joined.divisions[0].name, "1/tp");
  EXPECT_EQ(joined.divisions[2].name, "2/tp");
  EXPECT_EQ(joined.divisions[2].groups[0], (std::vector<std::uint32_t>{1, 3}));
  const GraphWorld world(line_of("switch:8"));
  const GraphResult result = world.run(joined);
  const GraphResult alone = world.run(join_graphs({both.data(), 1}, 8).value());
  EXPECT_EQ(last_of(result, both[0].ranks), last_of(alone, both[0].ranks));
  EXPECT_EQ(last_of(result, both[1].ranks), last_of(alone, both[0].ranks));
}

TEST(PlacedGraphs, RanksAreChecked) {
  const TaskGraph job = transfer();
  const auto expect_refused = [&](const std::vector<PlacedGraph>& jobs, const std::string& words) {
    const auto joined = join_graphs(jobs, 4);
    ASSERT_FALSE(joined) << words;
    EXPECT_EQ(joined.error().text, words);
    EXPECT_EQ(exit_code(joined.error().code), 2);
  };
  expect_refused({{job, {0, 1}}, {job, {1, 2}}}, "rank 1 is in the groups of workloads 1 and 2");
  expect_refused({{job, {0, 1, 2}}}, "workload 1 'test' has 2 ranks, its group 3");
  expect_refused({{job, {0, 4}}}, "workload 1: rank 4, there are 4");
  expect_refused({{job, {2, 1}}}, "workload 1: rank 1 twice or out of order");
}

}  // namespace
}  // namespace hocket

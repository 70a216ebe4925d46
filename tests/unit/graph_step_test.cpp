// Task graphs on shared endpoints: closed forms of messages, groups on their own links, and what is refused.
#include <gtest/gtest.h>

#include "support/graph_world.h"

namespace hocket {
namespace {

using test::graph_with;
using test::GraphWorld;

constexpr std::int64_t kUs = 1000000;

Platform two_npus(EngineKind kind = EngineKind::kIdeal) {
  Platform p;
  p.name = "pair";
  p.network.topology = "ring:2";
  p.network.links = {{{100e9, ""}, {1e-6, ""}}};
  p.endpoint.compute_units = Figure{100, ""};
  p.endpoint.memory_bandwidth = Figure{1e12, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e12, ""};
  p.engines = {{.name = "engine", .kind = kind}};
  p.engines[0].chunk = Figure{double{1 << 30}, ""};
  p.engines[0].message = Figure{double{1 << 30}, ""};
  return p;
}

Task kernel(double flops, std::vector<NodeId> after = {}) {
  Task t{.name = "kernel", .place = "node 1"};
  t.compute.flops = flops;
  t.after = std::move(after);
  return t;
}

Task message(bool sends, std::uint32_t peer, std::int64_t bytes, std::uint32_t tag = 0,
             std::vector<NodeId> after = {}) {
  Task t{.name = sends ? "send" : "receive", .place = fmt::format("node {}", 10 + tag)};
  t.message = TaskMessage{sends, peer, tag, {bytes}};
  t.after = std::move(after);
  return t;
}

Task all_reduce(std::int64_t bytes, std::uint32_t division = 0, std::vector<NodeId> after = {}) {
  Task t{.name = "reduce", .place = "node 20"};
  t.collective = TaskCollective{{CollectiveKind::kAllReduce, {bytes}, DataType::kF32}, division};
  t.after = std::move(after);
  return t;
}

TEST(GraphStep, AMessageTakesItsLinkAndLatency) {
  const GraphWorld world(two_npus());
  const TaskGraph graph = graph_with({{message(true, 1, 1000000)}, {message(false, 0, 1000000)}});
  EXPECT_EQ(world.run(graph).step.time.count, 11 * kUs);
}

TEST(GraphStep, AMessageIsReadAndWrittenOnceByKernels) {
  const GraphWorld world(two_npus(EngineKind::kComputeUnits));
  const TaskGraph graph = graph_with({{message(true, 1, 1000000)}, {message(false, 0, 1000000)}});
  EXPECT_EQ(world.run(graph).step.time.count, 13 * kUs);  // 1 us of memory at each end
}

TEST(GraphStep, ASenderNeverWaitsForTheReceiver) {
  const GraphWorld world(two_npus());
  const TaskGraph graph =
      graph_with({{message(true, 1, 1000000), kernel(5e6, {0})}, {kernel(100e6), message(false, 0, 1000000, 0, {0})}});
  EXPECT_EQ(world.run(graph).step.time.count, 100 * kUs);
}

TEST(GraphStep, WhoSendsFirstAndReceivesThenDoesNotStandStill) {
  const GraphWorld world(two_npus());
  const TaskGraph graph = graph_with({{message(true, 1, 1000000), message(false, 1, 1000000, 1, {0})},
                                      {message(true, 0, 1000000, 1), message(false, 0, 1000000, 0, {0})}});
  EXPECT_EQ(world.run(graph).step.time.count, 11 * kUs);
}

TEST(GraphStep, TwoMessagesShareTheLinkOfTheirSender) {
  const GraphWorld world(two_npus());
  const TaskGraph graph = graph_with({{message(true, 1, 1000000, 1), message(true, 1, 1000000, 2)},
                                      {message(false, 0, 1000000, 1), message(false, 0, 1000000, 2)}});
  EXPECT_EQ(world.run(graph).step.time.count, 21 * kUs);
}

// Rows of a 4x4 torus reduce on their own rings at once; all 16 ranks as one group take longer than a row.
TEST(GraphStep, GroupsRunOnTheirOwnPartOfTheNetwork) {
  const GraphWorld world("tpu:4x4x1", "ring");
  TaskGraph rows = graph_with(std::vector<std::vector<Task>>(16, {all_reduce(1 << 20)}));
  rows.divisions = {{"rows", {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}}};
  const GraphResult at_once = world.run(rows, "ideal");
  TaskGraph one =
      graph_with({{all_reduce(1 << 20)}, {all_reduce(1 << 20)}, {all_reduce(1 << 20)}, {all_reduce(1 << 20)}});
  const GraphWorld row("tpu:4x1x1", "ring");
  EXPECT_EQ(at_once.step.time.count, row.run(one, "ideal").step.time.count);
  TaskGraph all = graph_with(std::vector<std::vector<Task>>(16, {all_reduce(1 << 20)}));
  EXPECT_GT(world.run(all, "ideal").step.time.count, at_once.step.time.count);
}

TEST(GraphStep, GroupsThatShareLinksSlowOneAnother) {
  const GraphWorld world("tpu:8x1x1", "ring");
  const auto run_groups = [&](std::vector<std::vector<std::uint32_t>> groups) {
    Task nothing{.name = "nothing", .place = "node 1"};
    std::vector<std::vector<Task>> tasks(8, {nothing});
    for (const auto& group : groups) {
      for (const std::uint32_t rank : group) tasks[rank] = {all_reduce(1 << 20)};
    }
    TaskGraph graph = graph_with(std::move(tasks));
    graph.divisions = {{"pairs", std::move(groups)}};
    return world.run(graph, "ideal").step.time.count;
  };
  const std::int64_t alone = run_groups({{0, 4}});
  EXPECT_EQ(run_groups({{0, 1}, {4, 5}}), run_groups({{0, 1}}));
  EXPECT_GT(run_groups({{0, 4}, {1, 5}, {2, 6}, {3, 7}}), alone);
}

TEST(GraphStep, OneRankStandsForAllOnAStarToThePicosecond) {
  const GraphWorld world("h100:8", "ring");
  TaskGraph graph =
      graph_with({{kernel(5e9), all_reduce(1 << 20, 0, {0}), kernel(1e9, {1}), all_reduce(3 << 20, 1, {0})}});
  graph.program_of.assign(8, 0);
  graph.divisions = {{"tp", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}}, {"dp", {{0, 2, 4, 6}, {1, 3, 5, 7}}}};
  for (const CommunicationEngine& engine : world.platform.engines) {
    const GraphResult folded = simulate_graph(graph, world.machine(engine), world.chooser(), {}).value();
    const GraphResult whole = simulate_graph(graph, world.machine(engine), world.chooser(), {.fold = false}).value();
    EXPECT_EQ(folded.step.simulated, 1U);
    EXPECT_EQ(whole.step.simulated, 8U);
    EXPECT_EQ(folded.step.time.count, whole.step.time.count) << engine.name;
    EXPECT_EQ(folded.step.network_bytes, whole.step.network_bytes);
  }
}

TEST(GraphStep, ABarrierWaitsForAllMembersAndMovesNothing) {
  const GraphWorld world(two_npus());
  const TaskGraph graph = graph_with({{kernel(30e6), all_reduce(0, 0, {0})}, {all_reduce(0), kernel(5e6, {0})}});
  EXPECT_EQ(world.run(graph).step.time.count, 35 * kUs);
}

TEST(GraphStep, TheHostWorksBesideTheEndpoint) {
  const GraphWorld world(two_npus());
  Task host{.name = "host", .place = "node 3", .on_host = true};
  host.compute.stated = Seconds{40e-6};
  const GraphResult r = world.run(graph_with({{kernel(30e6), host, kernel(5e6, {1})}, {kernel(1e6)}}));
  EXPECT_EQ(r.step.time.count, 45 * kUs);
  EXPECT_EQ(r.host.count, 40 * kUs);
  EXPECT_EQ(r.step.exposed_for.at("work of the host").count, 10 * kUs);
}

// Rank 0 takes group a, then b; rank 1 the other way round, each waiting for the first.
TEST(GraphStep, OrdersThatCrossStandStillAndSayWhoWaits) {
  const GraphWorld world(two_npus());
  TaskGraph graph = graph_with({{all_reduce(8, 0), all_reduce(8, 1, {0})}, {all_reduce(8, 1), all_reduce(8, 0, {0})}});
  graph.divisions = {{"a", {{0, 1}}}, {"b", {{0, 1}}}};
  const auto r = world.try_run(graph);
  ASSERT_FALSE(r);
  EXPECT_EQ(exit_code(r.error().code), 1);
  EXPECT_EQ(
      r.error().text,
      "nothing can move at 0 ps: 2 tasks wait, 2 more behind them: rank0: node 20 'reduce' (rank 0) in all_reduce "
      "of group 'a', which 1 of 2 members have reached; rank1: node 20 'reduce' (rank 1) in all_reduce of group "
      "'b', which 1 of 2 members have reached");
}

void expect_refused(const TaskGraph& graph, const std::string& text) {
  const auto checked = validate(graph);
  ASSERT_FALSE(checked);
  EXPECT_EQ(exit_code(checked.error().code), 2);
  EXPECT_EQ(checked.error().text, text);
}

TEST(GraphStep, RefusesWhatCannotMeet) {
  expect_refused(graph_with({{message(true, 1, 8)}, {message(false, 0, 16)}}),
                 "message 1 of rank 0 to rank 1 with tag 0: 8 bytes sent (rank0: node 10 'send'), 16 expected (rank1: "
                 "node 10 'receive')");
  expect_refused(graph_with({{message(true, 1, 8, 3)}, {message(false, 0, 8, 4)}}),
                 "rank 0 sends 1 messages with tag 3 to rank 1, which receives 0 (rank1): rank0: node 13 'send' meets "
                 "none; the receiver waits with tags 4");
  expect_refused(graph_with({{message(true, 5, 8)}, {kernel(1)}}),
                 "rank0: node 10 'send': rank 0 names peer 5, there are 2 ranks");
  expect_refused(
      graph_with({{all_reduce(8)}, {all_reduce(16)}}),
      "collective 1 of group 'all': rank 0 calls all_reduce of 8 bytes (rank0: node 20 'reduce'), rank 1 calls "
      "all_reduce of 16 bytes (rank1: node 20 'reduce')");
  expect_refused(
      graph_with({{all_reduce(8)}, {kernel(1)}}),
      "group 'all': rank 0 calls 1 collectives (rank0), rank 1 calls 0 (rank1); rank 0 calls all_reduce of 8 "
      "bytes (rank0: node 20 'reduce'), nobody meets it");
  expect_refused(
      graph_with({{kernel(1, {1}), kernel(1, {2}), kernel(1, {1})}}),
      "rank0: 3 tasks wait for one another in a circle: node 1 'kernel' -> node 1 'kernel' -> node 1 'kernel'");
  expect_refused(graph_with({{kernel(-1)}}), "rank0: node 1 'kernel': -1 is no amount of work");
}

}  // namespace
}  // namespace hocket

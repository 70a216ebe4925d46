// Chakra traces as task graphs: samples, what every kind of node becomes, what is refused, and the way back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "exchange/chakra_attributes.h"
#include "exchange/chakra_graph.h"
#include "exchange/load_graph.h"
#include "exchange/rank_files.h"
#include "support/graph_world.h"

namespace hocket {
namespace {

using test::GraphWorld;

ChakraNode node(std::uint64_t id, ChakraNodeType type, std::vector<std::uint64_t> after = {}) {
  ChakraNode n;
  n.id = id;
  n.name = fmt::format("n{}", id);
  n.type = type;
  n.data_dependencies = std::move(after);
  return n;
}

ChakraNode collective(std::uint64_t id, std::uint64_t kind, std::uint64_t bytes, const std::string& group = "") {
  ChakraNode n = node(id, ChakraNodeType::kCollective);
  n.attributes = {chakra_int64("comm_type", kind), chakra_uint64("comm_size", bytes)};
  if (!group.empty()) n.attributes.push_back(chakra_string("pg_name", group));
  return n;
}

struct Ends {
  std::uint64_t from = 0, to = 0;
};

ChakraNode message(std::uint64_t id, bool sends, Ends ends, std::uint64_t bytes, std::uint64_t tag = 0) {
  ChakraNode n = node(id, sends ? ChakraNodeType::kSend : ChakraNodeType::kReceive);
  n.attributes = {chakra_int32("comm_src", ends.from), chakra_int32("comm_dst", ends.to), chakra_int32("comm_tag", tag),
                  chakra_int64("comm_size", bytes)};
  return n;
}

ChakraNode kernel(std::uint64_t id, std::uint64_t us, std::vector<std::uint64_t> after = {}, bool host = false) {
  ChakraNode n = node(id, ChakraNodeType::kCompute, std::move(after));
  n.duration_us = us;
  n.attributes = {chakra_bool("is_cpu_op", host)};
  return n;
}

std::vector<RankTrace> traces_of(std::vector<std::vector<ChakraNode>> nodes) {
  std::vector<RankTrace> traces;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    traces.push_back({fmt::format("t.{}.et", rank), {"0.0.4", {}, std::move(nodes[rank])}});
  return traces;
}

Result<ImportedGraph> read(std::vector<std::vector<ChakraNode>> nodes, ChakraReading reading = {}) {
  reading.layout.ranks = static_cast<std::uint32_t>(nodes.size());
  const std::vector<RankTrace> traces = traces_of(std::move(nodes));
  HOCKET_TRY_ASSIGN(ImportedGraph imported, graph_of(traces, reading));
  HOCKET_TRY(validate(imported.graph));
  return imported;
}

Platform pair_of(double bytes_per_second) {
  Platform p = platform_from_words("h100:2").value();
  p.network.topology = "ring:2";
  p.network.links = {{{bytes_per_second, ""}, {1e-6, ""}}};
  return p;
}

TEST(ChakraGraph, DependenciesOfBothKindsAreKept) {
  ChakraNode last = kernel(7, 3, {5});
  last.control_dependencies = {6, 5};
  const auto imported = read({{kernel(5, 1), kernel(6, 2), last}}).value();
  const std::vector<Task>& tasks = imported.graph.programs[0].tasks;
  EXPECT_EQ(tasks[2].after, (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(tasks[2].place, "node 7");
  EXPECT_EQ(tasks[2].compute.stated->value, 3e-6);
}

TEST(ChakraGraph, APipelineOfTwoStagesTakesItsClosedForm) {
  // 10 us of compute, 1 MB over 100 GB/s and 1 us, 20 us of compute, and back.
  const GraphWorld world(pair_of(100e9));
  ChakraNode send = message(2, true, {0, 1}, 1000000, 3);
  send.data_dependencies = {1};
  ChakraNode back = message(3, true, {1, 0}, 1000000, 4);
  back.data_dependencies = {2};
  const auto imported = read({{kernel(1, 10), send, message(4, false, {1, 0}, 1000000, 4)},
                              {message(1, false, {0, 1}, 1000000, 3), kernel(2, 20, {1}), back}})
                            .value();
  const GraphResult r = world.run(imported.graph, "ideal");
  EXPECT_EQ(r.step.time.count, (10 + 11 + 20 + 11) * 1000000);
  EXPECT_EQ(r.messages, 2U);
}

TEST(ChakraGraph, GroupsComeFromTheFileOrTheCallers) {
  const auto nodes = [] {
    return std::vector<std::vector<ChakraNode>>{{collective(1, 0, 64, "a")},
                                                {collective(1, 0, 64, "b")},
                                                {collective(1, 0, 64, "a")},
                                                {collective(1, 0, 64, "b")}};
  };
  const auto callers = read(nodes()).value();
  ASSERT_EQ(callers.graph.divisions.size(), 2U);
  EXPECT_EQ(callers.graph.divisions[0].groups[0], (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(callers.losses.lines()[0],
            "pg_name: assumed the callers as members of 2 group(s) (no groups file lists them)");
  ChakraReading reading;
  reading.groups = {{"a", {0, 1, 2}}, {"b", {1, 3}}};
  const auto listed = read(nodes(), reading);
  ASSERT_FALSE(listed);
  EXPECT_EQ(
      listed.error().text,
      "group 'a': rank 0 calls 1 collectives (t.0.et), rank 1 calls 0 (t.1.et); rank 0 calls all_reduce of 64 bytes "
      "(t.0.et: node 1 'n1'), nobody meets it");
}

TEST(ChakraGraph, AnAllGatherIsOneRanksShareAndABarrierHasNoBytes) {
  ChakraNode barrier = node(2, ChakraNodeType::kCollective);
  barrier.attributes = {chakra_int64("comm_type", 9)};
  const std::vector<ChakraNode> nodes{collective(1, 2, 100), barrier, collective(3, 7, 100)};
  const auto imported = read({nodes, nodes, nodes, nodes}).value();
  const std::vector<Task>& tasks = imported.graph.programs[0].tasks;
  EXPECT_EQ(tasks[0].collective->what.bytes.count, 400);
  EXPECT_EQ(tasks[1].collective->what.bytes.count, 0);
  EXPECT_EQ(tasks[2].collective->what.bytes.count, 100);
}

TEST(ChakraGraph, DimensionsOfTheNetworkAreGroups) {
  ChakraNode n = collective(1, 0, 64);
  n.attributes.push_back({"involved_dim", {}, 28, WireType::kBytes, 0, std::string("\x0a\x02\x00\x01", 4)});
  ChakraReading reading;
  reading.layout.extents = {2, 2};
  const auto imported = read({{n}, {n}, {n}, {n}}, reading).value();
  EXPECT_EQ(imported.graph.divisions[0].groups, (std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}}));
}

TEST(ChakraGraph, TheHostsSideOfACollectiveIsWorkOfTheHost) {
  ChakraNode side = kernel(1, 9, {}, true);
  side.type = ChakraNodeType::kCollective;
  const auto imported = read({{side, node(2, ChakraNodeType::kMetadata, {1}), kernel(3, 1, {2})}}).value();
  EXPECT_TRUE(imported.graph.programs[0].tasks[0].on_host);
  EXPECT_EQ(imported.counts[0], "nodes: 3 read, 2 kept");
  EXPECT_EQ(GraphWorld("h100:1").run(imported.graph).step.time.count, 10 * 1000000);
}

TEST(ChakraGraph, CallsThatNestDoNotWaitForOneAnother) {
  ChakraNode caller = kernel(1, 5, {2}, true);
  ChakraNode callee = kernel(2, 3, {}, true);
  callee.control_dependencies = {1};
  const auto imported = read({{caller, callee}}).value();
  EXPECT_EQ(imported.losses.count(LossKind::kRepaired), 1U);
  EXPECT_EQ(GraphWorld("h100:1").run(imported.graph).step.time.count, 8 * 1000000);
}

void expect_refused(std::vector<std::vector<ChakraNode>> nodes, const std::string& text) {
  const auto imported = read(std::move(nodes));
  ASSERT_FALSE(imported) << text;
  EXPECT_EQ(exit_code(imported.error().code), 2);
  EXPECT_EQ(imported.error().text, text);
}

TEST(ChakraGraph, RefusesWithFileNodeAndBothValues) {
  expect_refused({{kernel(1, 1), kernel(1, 2)}}, "t.0.et: node 1 stands twice");
  expect_refused({{kernel(1, 1, {2}), kernel(2, 1, {1})}},
                 "t.0.et: 2 tasks wait for one another in a circle: node 1 'n1' -> node 2 'n2' -> node 1 'n1'");
  expect_refused({{collective(4, 3, 8)}}, "t.0.et: node 4: collective 'gather' is not simulated");
  expect_refused({{collective(4, 12, 8)}}, "t.0.et: node 4: comm_type 12 is unknown");
  ChakraNode bare = node(4, ChakraNodeType::kCollective);
  expect_refused({{bare}}, "t.0.et: node 4 'n4': a collective without comm_type");
  bare.attributes = {chakra_int64("comm_type", 0)};
  expect_refused({{bare}}, "t.0.et: node 4 'n4': no comm_size");
  bare.attributes.push_back(chakra_string("comm_size", "many"));
  expect_refused({{bare}}, "t.0.et: node 4: attribute 'comm_size' is no whole number");
  expect_refused({{message(1, true, {1, 0}, 8)}, {kernel(1, 1)}},
                 "t.0.et: node 1 'n1': comm_src 1 in the trace of rank 0");
  expect_refused({{message(1, true, {0, 5}, 8)}, {kernel(1, 1)}},
                 "t.0.et: node 1 'n1': comm_dst 5 in the trace of rank 0 of 2");
  expect_refused(
      {{message(1, true, {0, 1}, 8, 2)}, {message(9, false, {0, 1}, 4, 2)}},
      "message 1 of rank 0 to rank 1 with tag 2: 8 bytes sent (t.0.et: node 1 'n1'), 4 expected (t.1.et: node "
      "9 'n9')");
  expect_refused(
      {{message(1, true, {0, 1}, 8, 2)}, {message(9, false, {0, 1}, 8, 3)}},
      "rank 0 sends 1 messages with tag 2 to rank 1, which receives 0 (t.1.et): t.0.et: node 1 'n1' meets none; "
      "the receiver waits with tags 3");
  expect_refused({{collective(1, 0, 8)}, {collective(3, 2, 8)}},
                 "collective 1 of group 'all': rank 0 calls all_reduce of 8 bytes (t.0.et: node 1 'n1'), rank 1 calls "
                 "all_gather of 16 bytes (t.1.et: node 3 'n3')");
}

TEST(ChakraGraph, ReadsTheJsonTwin) {
  const std::string text =
      R"({"workload_graph": [{"Id": 3, "Name": "a", "NodeType": 4, "runtime": 7, "is_cpu_op": false, "extra": [1]},
          {"Id": 4, "Name": "r", "NodeType": 7, "data_deps": [3], "ctrlDeps": [], "comm_type": 0, "comm_size": 64}]})";
  const ChakraTrace trace = read_chakra_json(text, "w.json").value();
  ASSERT_EQ(trace.nodes.size(), 2U);
  EXPECT_EQ(trace.nodes[0].duration_us, 7U);
  EXPECT_EQ(trace.nodes[1].data_dependencies, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(read_chakra_json(R"({"workload_graph": [{"Id": -1}]})", "w.json").error().text,
            "w.json: node number 0: key 'Id' is no whole number from 0");
  EXPECT_EQ(read_chakra_json(R"({"workload_graph": 3})", "w.json").error().text, "w.json: no list 'workload_graph'");
  EXPECT_EQ(read_chakra_groups(R"({"1": [0, 0]})", "g.json").error().text, "g.json: group '1': rank 0 stands twice");
  EXPECT_EQ(read_chakra_groups(R"({"1": []})", "g.json").error().text, "g.json: group '1': not a list of ranks");
}

/// One per test: they run side by side.
struct Folder {
  std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) /
      fmt::format("hocket_chakra_{}", ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  [[nodiscard]] std::string prefix() const { return (path / "w").string(); }
};

void save(const ChakraExport& out, const std::string& prefix) {
  for (std::size_t rank = 0; rank < out.traces.size(); ++rank)
    ASSERT_TRUE(write_file(fmt::format("{}.{}.et", prefix, rank), write_chakra(out.traces[rank])));
  ASSERT_TRUE(write_file(prefix + ".groups.json", out.groups));
}

// Written, read back and simulated again: the same picosecond, with groups, messages, kernels by roofline and by time.
TEST(ChakraGraph, TheWayThereAndBackTakesTheSameTime) {
  const Folder folder;
  const GraphWorld world("h100:4");
  Task gemm{.name = "gemm", .place = "1"}, stated{.name = "stated", .place = "2", .after = {0}};
  gemm.compute = {3e9, DataType::kF32, 1e6, {}};
  stated.compute.stated = Seconds{1234.5e-9};
  Task reduce{.name = "reduce", .place = "3", .after = {0}}, gather{.name = "gather", .place = "4", .after = {1}};
  reduce.collective = TaskCollective{{CollectiveKind::kAllReduce, {1 << 20}, DataType::kF32}, 0};
  gather.collective = TaskCollective{{CollectiveKind::kAllGather, {1 << 20}, DataType::kF16}, 1};
  std::vector<std::vector<Task>> tasks(4, {gemm, stated, reduce, gather});
  const std::array<std::uint32_t, 4> peers{1, 0, 3, 2};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Task m{.name = "m", .place = "5", .after = {1}};
    m.message = TaskMessage{rank % 2 == 0, peers[rank], 7, {12345}};
    tasks[rank].push_back(m);
  }
  TaskGraph graph = test::graph_with(std::move(tasks));
  graph.divisions = {{"all", {{0, 1, 2, 3}}}, {"halves", {{0, 2}, {1, 3}}}};
  save(export_chakra(graph).value(), folder.prefix());
  const auto again = load_graph({{folder.prefix()}, true, "", DataType::kF16}, {4, {4}}).value();
  EXPECT_TRUE(validate(again.graph));
  for (const CommunicationEngine& engine : world.platform.engines) {
    const GraphResult before = simulate_graph(graph, world.machine(engine), world.chooser()).value();
    const GraphResult after = simulate_graph(again.graph, world.machine(engine), world.chooser()).value();
    EXPECT_EQ(before.step.time.count, after.step.time.count) << engine.name;
    EXPECT_EQ(before.step.network_bytes, after.step.network_bytes);
  }
}

TEST(ChakraGraph, EveryRankNeedsItsTraceAndEveryTraceItsRank) {
  const Folder folder;
  const std::vector<std::string> prefix{folder.prefix()};
  for (const int rank : {0, 1, 3}) ASSERT_TRUE(write_file(fmt::format("{}.{}.et", prefix[0], rank), "x"));
  const std::string missing = prefix[0] + ".2.et is missing: of the traces of 4 ranks 3 are there";
  EXPECT_EQ(rank_files(prefix, 4).error().text, missing);
  EXPECT_EQ(rank_files(std::vector{prefix[0] + ".1.et"}, 4).error().text, missing);
  EXPECT_EQ(rank_files(prefix, 1).error().text, prefix[0] + ".1.et is there too, the platform has 1 ranks");
  EXPECT_EQ(rank_files(prefix, 2).value().paths, (std::vector{prefix[0] + ".0.et", prefix[0] + ".1.et"}));
  const std::vector<std::string> turned{prefix[0] + ".1.et", prefix[0] + ".0.et"};
  EXPECT_EQ(rank_files(turned, 2).value().paths[0], turned[1]);
  EXPECT_EQ(rank_files(turned, 3).error().text, "2 traces are given, the platform has 3 ranks");
  EXPECT_EQ(rank_files(std::vector{turned[0], turned[0]}, 2).error().text,
            fmt::format("{} and {} are both traces of rank 1", turned[0], turned[0]));
  const std::vector<std::string> whole{std::filesystem::path(prefix[0]).parent_path().string()};
  EXPECT_EQ(rank_files(whole, 2).value().paths, (std::vector{prefix[0] + ".0.et", prefix[0] + ".1.et"}));
  ASSERT_TRUE(write_file(whole[0] + "/other.0.et", "x"));
  EXPECT_NE(rank_files(whole, 2).error().text.find("more than one trace of rank 0"), std::string::npos);
  EXPECT_EQ(rank_files(std::vector{std::string("none")}, 2).error().text, "none: no such trace, and no none.0.et");
}

}  // namespace
}  // namespace hocket

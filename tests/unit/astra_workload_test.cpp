// Text workloads of ASTRA-sim: what each policy computes and sends, in which groups, and what is refused.
#include <gtest/gtest.h>

#include "exchange/astra_workload.h"
#include "support/graph_world.h"

namespace hocket {
namespace {

Result<ImportedGraph> read(const std::string& text, const RankLayout& layout) {
  HOCKET_TRY_ASSIGN(const AstraWorkload workload, parse_astra_workload(text, "w.txt"));
  return graph_of(workload, "w.txt", layout);
}

std::string rows_of(const std::string& header, const std::vector<std::string>& rows) {
  return fmt::format("{}\n{}\n{}\n", header, rows.size(), fmt::join(rows, "\n"));
}

/// "0 a forward; 1 a forward <0: all_gather in tp": a task, what it waits for, what it sends.
std::vector<std::string> lines_of(const ImportedGraph& imported) {
  std::vector<std::string> lines;
  for (const Task& task : imported.graph.programs[0].tasks) {
    std::string line = task.name;
    if (!task.after.empty()) line += fmt::format(" <{}", fmt::join(task.after, ","));
    if (!task.after_previous.empty()) line += fmt::format(" <<{}", fmt::join(task.after_previous, ","));
    if (task.collective)
      line += fmt::format(": {} in {}", name_of(task.collective->what.kind),
                          imported.graph.divisions[task.collective->division].name);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> program(const std::string& header, const std::vector<std::string>& rows,
                                 const RankLayout& layout) {
  const auto imported = read(rows_of(header, rows), layout);
  EXPECT_TRUE(imported) << imported.error().text;
  return imported ? lines_of(*imported) : std::vector<std::string>{};
}

using Lines = std::vector<std::string>;
const Lines kRows{"a -1 10 ALLREDUCE 64 20 ALLREDUCE 64 30 ALLREDUCE 128 0",
                  "b -1 11 NONE 0 21 ALLTOALL 64 31 ALLREDUCE 64 0"};

TEST(AstraWorkload, DataSendsTheGradientsOfWeightsOnly) {
  EXPECT_EQ(
      program("DATA", kRows, {4, {4}}),
      (Lines{"a forward <<5,6", "b forward <0 <<3", "b weight_gradient <1", "b weight_gradient <2: all_reduce in all",
             "b input_gradient <2", "a weight_gradient <4", "a weight_gradient <5: all_reduce in all"}));
}

TEST(AstraWorkload, ModelWaitsForItsCollectives) {
  EXPECT_EQ(program("MODEL", kRows, {4, {4}}),
            (Lines{"a forward <<7", "a forward <0: all_reduce in all", "b forward <1", "b input_gradient <2",
                   "b input_gradient <3: all_to_all in all", "b weight_gradient <3", "a input_gradient <5,4",
                   "a weight_gradient <6"}));
}

TEST(AstraWorkload, TransformersUseGroupsAndBlock) {
  EXPECT_EQ(
      program("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1", kRows, {4, {4}}),
      (Lines{"a forward <<9,10", "a forward <0: all_reduce in tp", "b forward <1 <<6", "b input_gradient <2",
             "b input_gradient <3: all_to_all in tp", "b weight_gradient <4", "b weight_gradient <5: all_reduce in dp",
             "a input_gradient <5", "a input_gradient <7: all_reduce in tp", "a weight_gradient <8",
             "a weight_gradient <9: all_reduce in dp"}));
}

TEST(AstraWorkload, ForwardRunsAgainFromTheCheckpoint) {
  const Lines rows{"a -1 1 NONE 0 2 NONE 0 3 NONE 0 0", "b -1 1 NONE 0 2 NONE 0 3 NONE 0 0",
                   "c -1 1 NONE 0 2 NONE 0 3 NONE 0 0"};
  const std::string header =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: 1 2";
  EXPECT_EQ(program(header, rows, {2, {2}}),
            (Lines{"a forward <<10", "b forward <0", "c forward <1", "a forward <2", "b forward <3",
                   "c input_gradient <4", "c weight_gradient <5", "b input_gradient <6", "b weight_gradient <7",
                   "a input_gradient <8", "a weight_gradient <9"}));
}

TEST(AstraWorkload, DlrmExchangesBesideTheBottomLayers) {
  const Lines rows{"emb -1 1 ALLTOALL 64 2 ALLTOALL 64 3 NONE 0 0", "bottom -1 1 NONE 0 2 NONE 0 3 NONE 0 0",
                   "top -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 64 0"};
  EXPECT_EQ(program("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1", rows, {2, {2}}),
            (Lines{"emb forward <<10,7", "emb forward <0: all_to_all in all", "bottom forward <0",
                   "top forward <2,1 <<5", "top weight_gradient <3", "top weight_gradient <4: all_reduce in all",
                   "top input_gradient <4", "emb input_gradient <6: all_to_all in all", "bottom weight_gradient <6",
                   "bottom input_gradient <8", "emb weight_gradient <9"}));
}

TEST(AstraWorkload, MicroAndInference) {
  EXPECT_EQ(program("MICRO", kRows, {4, {4}}), (Lines{"a weight_gradient <<0: all_reduce in all"}));
  EXPECT_EQ(program("DISTRIBUTED_INFERENCE", kRows, {4, {4}}),
            (Lines{"a forward <<2", "a forward <0: all_reduce in all", "b forward <1"}));
}

TEST(AstraWorkload, DimensionsOfTheNetworkAreGroups) {
  const Lines rows{"a -1 1 ALLREDUCE 8 0 NONE 0 0 ALLREDUCE 8 0"};
  const auto groups = [&](const std::string& policy) {
    return read(rows_of(policy, rows), {4, {2, 2}}).value().graph.divisions;
  };
  const auto data_model = groups("HYBRID_DATA_MODEL");
  ASSERT_EQ(data_model.size(), 2U);
  EXPECT_EQ(data_model[0].groups, (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(data_model[1].groups, (std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("HYBRID_MODEL_DATA")[0].groups, data_model[1].groups);
}

TEST(AstraWorkload, ExpertsAreNeighboursAmongDataParallelRanks) {
  const Lines rows{"a -1 1 ALLTOALL_EP 64 0 NONE 0 0 ALLREDUCE_DP_EP 64 0", "b -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 64 0"};
  const auto imported =
      read(rows_of("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 2 all_gpus: 16", rows), {16, {16}})
          .value();
  std::map<std::string, std::vector<std::uint32_t>> first;
  for (const RankDivision& d : imported.graph.divisions) first[d.name] = d.groups.front();
  EXPECT_EQ(first.at("ep"), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(first.at("dp_ep"), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(first.at("dp"), (std::vector<std::uint32_t>{0, 2, 4, 6}));
}

TEST(AstraWorkload, CustomizedRowsHaveTheirOwnPolicy) {
  const Lines rows{"a -1 0 ALLREDUCE 8 0 NONE 0 0 ALLREDUCE 8 0 DATA", "b -1 0 ALLREDUCE 8 0 NONE 0 0 NONE 0 0 MODEL"};
  EXPECT_EQ(program("HYBRID_CUSTOMIZED", rows, {2, {2}}),
            (Lines{"b forward <<0,1: all_reduce in all", "a weight_gradient <0: all_reduce in all"}));
}

TEST(AstraWorkload, CountsWhatIsLost) {
  const auto imported = read(rows_of("DATA", {"a 0 1 ALLREDUCE 64 0 NONE 0 1 ALLREDUCE 0 7"}), {2, {2}}).value();
  EXPECT_EQ(imported.counts, (Lines{"rows: 1 read, 1 kept", "collectives: 2 read, 0 kept"}));
  EXPECT_EQ(imported.losses.lines(),
            (Lines{"ignored 1 collective(s) (of 0 bytes)",
                   "ignored 1 collective(s) (policy DATA does not send them in that pass)",
                   "field 12: ignored update times of 1 row(s) (the file does not say per what)",
                   "field 2: ignored dependencies of 1 row(s) (the policy orders the rows)",
                   "assumed times in ns, sizes in B (the file has no units)"}));
}

// Forward, then its all-reduce of 16 ranks, then a kernel: what a hand-written graph of the same takes.
TEST(AstraWorkload, TakesTheTimeOfItsGraph) {
  const test::GraphWorld world("ace:4x2x2");
  const auto imported =
      read(rows_of("MODEL", {"a -1 5000 ALLREDUCE 1048576 7000 NONE 0 0 NONE 0 0"}), {16, {4, 2, 2}}).value();
  Task first{.name = "a", .place = "1"}, reduce{.name = "r", .place = "2", .after = {0}},
      last{.name = "b", .place = "3", .after = {1}};
  first.compute.stated = Seconds{5e-6};
  reduce.collective = TaskCollective{{CollectiveKind::kAllReduce, {1048576}, DataType::kF16}, 0};
  last.compute.stated = Seconds{7e-6};
  const TaskGraph same = test::graph_with(std::vector<std::vector<Task>>(16, {first, reduce, last}));
  EXPECT_EQ(world.run(imported.graph, "ideal").step.time.count, world.run(same, "ideal").step.time.count);
}

void expect_refused(const std::string& text, const std::string& message, const RankLayout& layout = {8, {8}}) {
  const auto result = read(text, layout);
  ASSERT_FALSE(result) << text;
  EXPECT_EQ(exit_code(result.error().code), 2);
  EXPECT_EQ(result.error().text.substr(0, message.size()), message);
}

TEST(AstraWorkload, RefusesWithFileAndLine) {
  const std::string row = "a -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1";
  expect_refused("", "w.txt: the file is empty");
  expect_refused("DATA\nx\n", "w.txt:2: not a row count");
  expect_refused("DATA\n0\n", "w.txt: no rows");
  expect_refused("DATA\n1\na -1 1\n", "w.txt:3: 3 fields, a row has 12");
  expect_refused("MODEL\n1\na -1 1 BROADCAST 8 1 NONE 0 1 NONE 0 1\n", "w.txt:3: field 4 'BROADCAST' is no collective");
  expect_refused("MODEL\n1\na -1 1 ALLREDUCEALLTOALL 8 1 NONE 0 1 NONE 0 1\n",
                 "w.txt:3: field 4 'ALLREDUCEALLTOALL' is no collective");
  expect_refused("MODEL\n1\na -1 -5 NONE 8 1 NONE 0 1 NONE 0 1\n", "w.txt:3: field 3 '-5' is not a whole number");
  expect_refused("HYBRID_ODD\n1\n" + row, "w.txt:1: policy 'HYBRID_ODD' is unknown; known: DATA, MODEL");
  expect_refused("HYBRID_CUSTOMIZED\n1\n" + row + " WILD", "w.txt:3: policy 'WILD' is unknown");
  expect_refused("HYBRID_CUSTOMIZED\n1\n" + row, "w.txt:3: no 13th field, the policy of the row");
  expect_refused("HYBRID_TRANSFORMER all_gpus: 16\n1\n" + row, "w.txt:1: all_gpus 16, the platform has 8 ranks");
  expect_refused("HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" + row,
                 "w.txt:1: model_parallel_NPU_group 3 and pp 1 do not divide 8 ranks");
  expect_refused("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3\n1\n" + row,
                 "w.txt:1: ep 3 does not divide the 4 ranks of a data-parallel group");
  expect_refused("HYBRID_TRANSFORMER ep: 0\n1\n" + row, "w.txt:1: ep 0 with 8 ranks");
  expect_refused("HYBRID_TRANSFORMER ep: x\n1\n" + row, "w.txt:1: key 'ep': 'x' is not a whole number");
  expect_refused("HYBRID_TRANSFORMER ep: 1 ep: 2\n1\n" + row, "w.txt:1: key 'ep' stands twice");
  expect_refused("HYBRID_TRANSFORMER checkpoints: 5 1\n1\n" + row,
                 "w.txt:1: key 'checkpoints' announces 5 layers, 1 words follow");
  expect_refused("HYBRID_DLRM\n1\n" + row, "w.txt:1: policy HYBRID_DLRM needs key 'DLRM_LAST_BOTTOM_LAYER'");
  expect_refused("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 4\n1\n" + row,
                 "w.txt:1: DLRM_LAST_BOTTOM_LAYER 4, there are 1 rows");
  expect_refused("MODEL\n1\na -1 1 ALLREDUCE_EP 8 1 NONE 0 1 NONE 0 1\n",
                 "w.txt:3: 'ALLREDUCE_EP' needs key 'ep' on line 1");
  expect_refused("MODEL\n1\na -1 1 ALLREDUCE_PP 8 1 NONE 0 1 NONE 0 1\n",
                 "w.txt:3: 'ALLREDUCE_PP': collectives between stages of a pipeline are not simulated");
}

}  // namespace
}  // namespace hocket

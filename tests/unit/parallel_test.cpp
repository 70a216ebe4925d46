// Parallel training steps against closed forms: how often each collective is called and with how many bytes, what a
// rank sends, the bubble of a pipeline, memory of the fullest stage; and what is refused.
#include "workload/parallel.h"

#include <gtest/gtest.h>

#include <map>

#include "support/graph_world.h"
#include "workload/memory.h"
#include "workload/parallel_parts.h"

namespace hocket {
namespace {

using test::GraphWorld;

struct Spread {
  LayeredModel model;
  ModelRequest request;
  ParallelPlan plan;
  TaskGraph graph;
};

Spread spread(std::string_view name, std::uint32_t ranks, const ParallelPlan& asked, ModelRequest request = {}) {
  Spread s{layered_model(name, request).value(), request, {}, {}};
  const auto plan = plan_parallel(s.model, request, asked, ranks);
  EXPECT_TRUE(plan) << plan.error().text;
  s.plan = plan.value();
  s.graph = parallel_graph(s.model, request, s.plan);
  const auto valid = validate(s.graph);
  EXPECT_TRUE(valid) << valid.error().text;
  return s;
}

/// The calls of a rank: "all_reduce forward tp 8388608" -> how often. Bytes are those of the whole vector.
std::map<std::string, int> calls(const Spread& s, std::uint32_t rank = 0) {
  std::map<std::string, int> found;
  for (const Task& t : s.graph.program(rank).tasks) {
    if (!t.collective) continue;
    const WorkCollective& what = t.collective->what;
    ++found[fmt::format("{} {} {} {}", name_of(what.kind), name_of(t.phase),
                        s.graph.divisions[t.collective->division].name, what.bytes.count)];
  }
  return found;
}

std::string call(std::string_view what, double bytes) {
  return fmt::format("{} {}", what, static_cast<std::int64_t>(bytes));
}

double bytes_of(const Spread& s, CollectiveKind kind, std::string_view division) {
  double bytes = 0;
  for (const Task& t : s.graph.program(0).tasks) {
    if (t.collective && t.collective->what.kind == kind && s.graph.divisions[t.collective->division].name == division)
      bytes += static_cast<double>(t.collective->what.bytes.count);
  }
  return bytes;
}

double weights_of(const LayeredModel& model) {
  double weights = 0;
  for (const ModelLayer& layer : model.layers) weights += layer.owns_weights ? layer.weights : 0;
  return weights;
}

// BERT large: b = 8, s = 512, h = 1024 in 16 bits.
constexpr double kBertActivation = 8.0 * 512 * 1024 * 2;
constexpr int kBertBlocks = 24;

// Two all-reduces forward and two backward a block; one more for the table of words, one for the head.
TEST(Parallel, MegatronSumsFourTimesABlock) {
  const Spread s = spread("bert", 8, {.tensor = 8});
  const std::map<std::string, int> expected{
      {call("all_reduce forward tp", kBertActivation), 2 * kBertBlocks + 1},
      {call("all_reduce input_gradient tp", kBertActivation), 2 * kBertBlocks + 1}};
  EXPECT_EQ(calls(s), expected);
}

// Each all-reduce becomes a reduce-scatter and an all-gather; inputs of columns are gathered once more for gradients.
TEST(Parallel, ACutSequenceGathersAndScatters) {
  const Spread s = spread("bert", 8, {.tensor = 8, .splits_sequence = true});
  const std::map<std::string, int> expected{
      {call("reduce_scatter forward tp", kBertActivation), 2 * kBertBlocks + 1},
      {call("all_gather forward tp", kBertActivation), 2 * kBertBlocks + 1},
      {call("reduce_scatter input_gradient tp", kBertActivation), 2 * kBertBlocks + 1},
      {call("all_gather input_gradient tp", kBertActivation), 2 * (2 * kBertBlocks + 1)}};
  EXPECT_EQ(calls(s), expected);
}

TEST(Parallel, CopiesReduceEveryGradientOnce) {
  const Spread s = spread("gpt3_xl", 8, {.tensor = 2});
  EXPECT_EQ(bytes_of(s, CollectiveKind::kAllReduce, "dp"), weights_of(s.model) / 2 * 4);
  for (const std::int64_t bucket : {0, 1 << 26}) {
    ModelRequest request{.bucket = {bucket}};
    const Spread bucketed = spread("gpt3_xl", 8, {.tensor = 2, .pipeline = 2, .microbatches = 4}, request);
    double all = 0;
    for (const std::uint32_t rank : {0U, 4U}) {
      for (const auto& [text, count] : calls(bucketed, rank)) {
        if (text.starts_with("all_reduce weight_gradient dp")) all += count * std::stod(text.substr(text.rfind(' ')));
      }
    }
    // Both ends reduce their copy of the table.
    EXPECT_EQ(all, (weights_of(bucketed.model) + 50257.0 * 2048) / 2 * 4) << bucket;
  }
}

// All-gather forward and backward in the type of compute, reduce-scatter of the gradients: per micro-batch.
TEST(Parallel, ShardedWeightsAreGatheredTwiceAndReducedOnce) {
  for (const std::uint32_t micro : {1U, 4U}) {
    const Spread s = spread("llama2_7b", 8, {.microbatches = micro, .shards_weights = true}, {.batch = 4});
    EXPECT_EQ(bytes_of(s, CollectiveKind::kAllGather, "dp"), micro * 2 * weights_of(s.model) * 2);
    EXPECT_EQ(bytes_of(s, CollectiveKind::kReduceScatter, "dp"), micro * weights_of(s.model) * 4);
    EXPECT_EQ(bytes_of(s, CollectiveKind::kAllReduce, "dp"), 0);
  }
}

// A convolutional network has no blocks, but its weights can be sharded.
TEST(Parallel, AnyModelOfLayersCanShard) {
  const Spread s = spread("resnet50", 4, {.shards_weights = true});
  EXPECT_EQ(bytes_of(s, CollectiveKind::kAllGather, "dp"), 2 * 2 * 102011648.0 / 4);
  EXPECT_EQ(bytes_of(s, CollectiveKind::kReduceScatter, "dp"), 102011648.0);
}

// Four all-to-alls a block, of every token as often as experts take it; experts reduce among their own copies.
TEST(Parallel, ExpertsExchangeTokensFourTimesABlock) {
  const Spread s = spread("mixtral_8x7b", 16, {.expert = 8});
  const double tokens = 4096.0 * 2 * 4096 * 2;  // tokens x taken x h, 16 bits
  std::map<std::string, int> found = calls(s);
  EXPECT_EQ(found[call("all_to_all forward ep", tokens)], 2 * 32);
  EXPECT_EQ(found[call("all_to_all input_gradient ep", tokens)], 2 * 32);
  EXPECT_EQ(bytes_of(s, CollectiveKind::kAllReduce, "edp"), 32.0 * 3 * 4096 * 14336 * 4);  // one expert a rank
  EXPECT_EQ(bytes_of(s, CollectiveKind::kAllReduce, "dp"), (weights_of(s.model) - 32.0 * 8 * 3 * 4096 * 14336) * 4);
}

TEST(Parallel, ExpertsOfACutSequenceExchangeTheirPart) {
  const Spread s = spread("mixtral_8x7b", 16, {.tensor = 2, .expert = 8, .splits_sequence = true});
  std::map<std::string, int> found = calls(s);
  EXPECT_EQ(found[call("all_to_all forward ep", 4096.0 * 4096 * 2)], 2 * 32);
  EXPECT_EQ(found[call("all_gather forward tp", 2 * 4096.0 * 4096 * 2)], 32);  // into the experts
  EXPECT_FALSE(found.contains(call("all_reduce forward tp", 4096.0 * 4096 * 2)));
}

// One message of b s h each way per micro-batch and boundary; with the sequence cut, of a part of it.
TEST(Parallel, StagesSendActivationsPerMicroBatch) {
  for (const bool cut : {false, true}) {
    const Spread s =
        spread("bert", 8, {.tensor = 2, .pipeline = 4, .microbatches = 8, .splits_sequence = cut}, {.batch = 16});
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      const std::uint32_t stage = rank / 2;
      int sent = 0;
      for (const Task& t : s.graph.program(rank).tasks) {
        if (!t.message) continue;
        EXPECT_EQ(t.message->bytes.count, 2 * 512 * 1024 * 2 / (cut ? 2 : 1));
        EXPECT_TRUE(t.message->peer == rank + 2 || t.message->peer + 2 == rank) << rank;
        sent += t.message->sends ? 1 : 0;
      }
      EXPECT_EQ(sent, stage == 0 || stage == 3 ? 8 : 16) << rank;
    }
  }
}

TEST(Parallel, BothEndsOfAPipelineAddUpTheTableOfWords) {
  for (const bool shards : {false, true}) {
    const Spread s = spread("bert", 8, {.pipeline = 2, .microbatches = 2, .shards_weights = shards});
    std::map<std::string, int> first = calls(s, 0);
    EXPECT_EQ(first[call("all_reduce weight_gradient words", 30522.0 * 1024 * 4 / (shards ? 4 : 1))], 1);
    EXPECT_EQ(calls(s, 4).at(call("all_reduce weight_gradient words", 30522.0 * 1024 * 4 / (shards ? 4 : 1))), 1);
  }
  // LLaMA's head has weights of its own.
  EXPECT_EQ(bytes_of(spread("llama2_7b", 2, {.pipeline = 2}, {.batch = 2}), CollectiveKind::kAllReduce, "words"), 0);
}

// Work is divided, not lost: over all ranks of a copy the operations are those of the model on one rank.
TEST(Parallel, NoWorkIsLost) {
  const auto flops = [](const Spread& s) {
    double all = 0;
    for (std::uint32_t rank = 0; rank < s.graph.ranks(); ++rank) {
      for (const Task& t : s.graph.program(rank).tasks) all += t.compute.flops;
    }
    return all / s.plan.data;
  };
  for (const WorkloadModel* model : workload_models()) {
    if (model->extend != nullptr) continue;
    const ModelRequest request{.batch = 8};
    const double whole = flops(spread(model->name, 1, {}, request));
    EXPECT_EQ(flops(spread(model->name, 2, {.shards_weights = true}, request)), whole) << model->name;
    ModelRequest defaults = request;
    if (blocks_of(layered_model(model->name, defaults).value()) == 0) continue;
    for (const bool cut : {false, true}) {
      const ParallelPlan asked{.tensor = 2, .pipeline = 4, .microbatches = 8, .splits_sequence = cut};
      const double router = model->name == "mixtral_8x7b" && !cut ? 32 * 3.0 * 2 * 8 * 4096 * 4096 * 8 : 0;
      EXPECT_NEAR(flops(spread(model->name, 16, asked, request)), whole + router, 1e-9 * whole) << model->name;
    }
  }
}

/// Blocks of one column and one row matrix, all alike.
LayeredModel plain_model(std::uint32_t blocks) {
  constexpr double kWidth = 64, kRows = 32;
  LayeredModel model{"plain", "tests", {}};
  for (std::uint32_t block = 1; block <= blocks; ++block) {
    for (const TensorSplit split : {TensorSplit::kColumn, TensorSplit::kRow}) {
      ModelLayer layer{fmt::format("block {} {}", block, split == TensorSplit::kColumn ? "up" : "down"),
                       kWidth * kWidth * kRows, kWidth * kWidth, kWidth * kRows, kWidth * kRows};
      layer.split = split;
      layer.block = block;
      layer.cut_width = 64;
      model.layers.push_back(layer);
    }
  }
  return model;
}

/// Compute of 1 TFLOP/s that never waits for memory; an endpoint that takes nothing from it.
Platform ring_of(std::uint32_t ranks, double link) {
  Platform p;
  p.name = "ring";
  p.network.topology = fmt::format("ring:{}", ranks);
  p.network.links = {{{link, ""}, {1e-9, ""}}};
  p.endpoint.compute_units = Figure{1, ""};
  p.endpoint.memory_bandwidth = Figure{1e15, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e12, ""};
  p.engines = {{.name = "ideal", .kind = EngineKind::kIdeal}};
  return p;
}

StepResult run(const LayeredModel& model, const ParallelPlan& asked, std::uint32_t ranks, double link = 1e9) {
  const ModelRequest request{.batch = 8, .sequence = 32, .optimizer = Optimizer::kAdam};
  const ParallelPlan plan = plan_parallel(model, request, asked, ranks).value();
  return GraphWorld(ring_of(ranks, link)).run(parallel_graph(model, request, plan)).step;
}

// Rings send 2 (n - 1) / n of what they reduce; the first layer needs no gradient of its input.
TEST(Parallel, RanksSendWhatTheClosedFormsSay) {
  constexpr double kActivations = 8 * 64 * 32 * 2;
  constexpr double kWeights = 64 * 64;
  EXPECT_EQ(run(plain_model(3), {.tensor = 4}, 4).sent_bytes, (3 + 2) * kActivations * 2 * 3 / 4);
  EXPECT_EQ(run(plain_model(3), {}, 4).sent_bytes, 6 * kWeights * 4 * 2 * 3 / 4);
  EXPECT_EQ(run(plain_model(3), {.shards_weights = true}, 4).sent_bytes, 6 * kWeights * (2 + 2 + 4) * 3 / 4);
  EXPECT_EQ(run(plain_model(2), {.tensor = 2}, 4).sent_bytes, (2 + 1) * kActivations + 4 * kWeights / 2 * 4);
}

// P stages and M micro-batches of forward f and backward b: (M + P - 1)(f + b). The first stage needs no gradient of
// its input, which ends a step early by that at most; messages take a little.
TEST(Parallel, ThePipelineHasItsBubble) {
  for (const auto& [stages, micro] : {std::pair{4U, 4U}, {4U, 8U}, {2U, 8U}, {4U, 2U}, {2U, 1U}}) {
    const double pass = 2 * 64.0 * 64 * 32 / 1e12 * 8 / micro;  // of a layer and a micro-batch
    const double expected = (micro + stages - 1) * (8.0 / stages) * 3 * pass;
    const double time =
        to_seconds(run(plain_model(4), {.pipeline = stages, .microbatches = micro}, stages, 1e15).time).value;
    EXPECT_LE(time, expected + 2.0 * (micro + stages) * 2e-9) << stages << " stages, " << micro << " micro-batches";
    EXPECT_GE(time, expected - micro * pass) << stages << " stages, " << micro << " micro-batches";
  }
}

// A step that follows waits until the gradients of the one before are complete. Weights that were updated first are
// gathered first then, which may cost the first layer a little.
TEST(Parallel, StepsFollowOneAnother) {
  const LayeredModel model = plain_model(4);
  const ModelRequest request{.batch = 8, .sequence = 32, .optimizer = Optimizer::kAdam};
  for (const ParallelPlan& asked : {ParallelPlan{.pipeline = 4}, {.shards_weights = true}, {.tensor = 4}}) {
    const ParallelPlan plan = plan_parallel(model, request, asked, 4).value();
    const GraphWorld world(ring_of(4, 1e9));
    const TaskGraph graph = parallel_graph(model, request, plan);
    const double one = to_seconds(world.run(graph).step.time).value;
    const double three = to_seconds(world.try_run(graph, {.steps = 3}).value().step.time).value;
    EXPECT_GT(three, 2 * one) << plan.text();
    EXPECT_LE(three, 3.05 * one) << plan.text();
  }
}

TEST(Parallel, StagesHoldAllLayersOnce) {
  const LayeredModel model = plain_model(7);
  for (const std::uint32_t stages : {1U, 3U, 7U}) {
    std::size_t next = 0;
    for (const Stage& stage : stages_of(model, stages)) {
      EXPECT_EQ(stage.begin, next);
      EXPECT_GT(stage.end, stage.begin);
      next = stage.end;
    }
    EXPECT_EQ(next, model.layers.size());
  }
}

// Tensor and pipeline divide weights; early stages hold more micro-batches; shards divide what the copies share.
TEST(Parallel, MemoryIsThatOfTheFullestStage) {
  const LayeredModel model = plain_model(4);
  const ModelRequest request{.batch = 8, .sequence = 32, .optimizer = Optimizer::kAdam};
  const auto memory = [&](const ParallelPlan& asked, std::uint32_t ranks) {
    return parallel_memory(model, request, plan_parallel(model, request, asked, ranks).value());
  };
  const WorkMemory whole = memory({}, 1);
  EXPECT_EQ(whole.total(), memory_of(model.layers, request).total());
  EXPECT_EQ(memory({.tensor = 4}, 4).parameters, whole.parameters / 4);
  EXPECT_EQ(memory({.tensor = 4}, 4).activations, whole.activations / 2 + whole.activations / 2 / 4);
  EXPECT_EQ(memory({.tensor = 4, .splits_sequence = true}, 4).activations, whole.activations / 4);
  const WorkMemory piped = memory({.pipeline = 4, .microbatches = 8}, 4);
  EXPECT_EQ(piped.parameters, whole.parameters / 4);
  EXPECT_EQ(piped.activations, whole.activations / 8);  // 4 of 8 micro-batches of a quarter of the layers
  const WorkMemory sharded = memory({.shards_weights = true}, 8);
  EXPECT_EQ(sharded.optimizer, whole.optimizer / 8);
  EXPECT_EQ(sharded.parameters, whole.parameters / 8 + 2 * 64.0 * 64 * 2);
  EXPECT_EQ(sharded.gradients, whole.gradients / 8 + 64.0 * 64 * 4);
}

TEST(Parallel, CombinationsRun) {
  const GraphWorld world("h100:8");
  const ParallelPlan all{
      .tensor = 2, .pipeline = 2, .microbatches = 4, .shards_weights = true, .splits_sequence = true};
  const std::vector<std::pair<std::string_view, ParallelPlan>> cases{
      {"bert", all},
      {"transformer_base", all},
      {"transformer_base", {.pipeline = 4, .shards_weights = true}},
      {"bert", {.tensor = 2, .shards_weights = true}},
      {"mixtral_8x7b", {.tensor = 2, .pipeline = 2, .expert = 2, .microbatches = 2, .splits_sequence = true}}};
  for (const auto& [name, asked] : cases) {
    const Spread s = spread(name, 8, asked, {.batch = 4, .sequence = 64});
    EXPECT_GT(world.run(s.graph).step.time.count, 0) << name << ": " << s.plan.text();
    EXPECT_EQ(s.graph.memory->total(), parallel_memory(s.model, s.request, s.plan).total());
  }
}

// Endpoints on which collectives stop compute must not wait in circles.
TEST(Parallel, EveryEndpointRuns) {
  const GraphWorld world("ace:2x2x1");
  const Spread s = spread("bert", 4, {.tensor = 2, .pipeline = 2, .microbatches = 4, .splits_sequence = true},
                          {.batch = 4, .sequence = 16});
  for (const CommunicationEngine& engine : world.platform.engines)
    EXPECT_GT(world.run(s.graph, engine.name).step.time.count, 0) << engine.name;
}

void expect_refused(std::string_view name, const ParallelPlan& asked, std::uint32_t ranks, const std::string& words,
                    ModelRequest request = {}) {
  const LayeredModel model = layered_model(name, request).value();
  const auto plan = plan_parallel(model, request, asked, ranks);
  ASSERT_FALSE(plan) << words;
  EXPECT_NE(plan.error().text.find(words), std::string::npos) << plan.error().text;
  EXPECT_EQ(exit_code(plan.error().code), 2);
}

TEST(Parallel, WhatDoesNotDivideIsRefusedWithBothValues) {
  expect_refused("bert", {.tensor = 3, .pipeline = 2}, 8, "tp 3 x pp 2 = 6 ranks of a copy do not divide the 8 ranks");
  expect_refused("bert", {.pipeline = 32}, 32, "pp 32: 'bert' has 24 blocks", {.batch = 32});
  expect_refused("bert", {.pipeline = 2, .microbatches = 3}, 2, "3 micro-batches do not divide a batch of 8");
  expect_refused("llama2_7b", {.pipeline = 2}, 2, "2 micro-batches (as many as stages");
  expect_refused("bert", {.tensor = 32}, 32, "tp 32 does not divide the 16");
  expect_refused("bert", {.tensor = 16, .splits_sequence = true}, 16, "tp 16 does not divide the 100 tokens",
                 {.sequence = 100});
  expect_refused("mixtral_8x7b", {.expert = 3}, 3, "ep 3 does not divide the 8 experts");
  expect_refused("mixtral_8x7b", {.expert = 8}, 4, "ep 8 does not divide the 4 copies");
  expect_refused("bert", {.tensor = 0}, 4, "tp 0, pp 1, ep 1");
}

TEST(Parallel, WhatAModelLacksIsRefusedByName) {
  expect_refused("resnet50", {.tensor = 2}, 4,
                 "tp 2: 'resnet50' has no blocks of matrices to cut; models that have: "
                 "bert, gpt3_xl, llama2_7b, mixtral_8x7b, transformer_base");
  expect_refused("vgg16", {.pipeline = 2}, 4, "pp 2: 'vgg16'");
  expect_refused("gnmt", {.splits_sequence = true}, 4, "sp: 'gnmt'");
  expect_refused("bert", {.expert = 2}, 4, "ep 2: 'bert' has no experts; models that have: mixtral_8x7b");
  ModelRequest request;
  const auto dlrm = layered_model("dlrm", request);
  ASSERT_FALSE(dlrm);
  EXPECT_NE(dlrm.error().text.find("'dlrm'"), std::string::npos);
}

}  // namespace
}  // namespace hocket

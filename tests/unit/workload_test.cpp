// Built-in workloads: weights and operations as published, graphs that validate, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "workload/model.h"

namespace hocket {
namespace {

double forward_macs(const Workload& w) {
  double flops = 0;
  for (const WorkNode& node : w.nodes) flops += node.phase == StepPhase::kForward ? node.compute.flops : 0;
  return flops / 2;
}

double gradient_bytes(const Workload& w) {
  double bytes = 0;
  for (const WorkNode& node : w.nodes) {
    if (node.collective && node.collective->kind == CollectiveKind::kAllReduce)
      bytes += static_cast<double>(node.collective->bytes.count);
  }
  return bytes;
}

TEST(Workloads, AllBuildAndValidate) {
  ASSERT_GE(workload_models().size(), 13U);
  for (const WorkloadModel* model : workload_models()) {
    const auto w = workload_from_model(model->name, {});
    ASSERT_TRUE(w) << w.error().text;
    EXPECT_TRUE(validate(*w)) << model->name;
    EXPECT_GT(gradient_bytes(*w), 0) << model->name;
    // Backward is twice forward, without the input gradient of the first layer.
    double all = 0;
    for (const WorkNode& node : w->nodes) all += node.compute.flops;
    EXPECT_GT(all, 2 * 2.5 * forward_macs(*w)) << model->name;
    EXPECT_LE(all, 2 * 3 * forward_macs(*w)) << model->name;
  }
}

// The public layer table: 54 layers, 102,011,648 B of gradients, from 16,384 to 9,437,184 B; 4.1 billion multiply-adds.
TEST(Workloads, Resnet50HasThePublicLayers) {
  const Workload w = workload_from_model("resnet50", {.batch = 1}).value();
  std::vector<std::int64_t> sizes;
  for (const WorkNode& node : w.nodes) {
    if (node.collective) sizes.push_back(node.collective->bytes.count);
  }
  EXPECT_EQ(sizes.size(), 54U);
  EXPECT_EQ(gradient_bytes(w), 102011648);
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 16384);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 9437184);
  EXPECT_EQ(sizes.back(), 37632);     // conv1 comes last
  EXPECT_EQ(sizes.front(), 8192000);  // the classifier first
  EXPECT_NEAR(forward_macs(w), 4.09e9, 0.03e9);
}

TEST(Workloads, OthersHaveTheirPublishedWeights) {
  EXPECT_EQ(gradient_bytes(workload_from_model("vgg16", {}).value()) / 4, 138344128);
  EXPECT_EQ(gradient_bytes(workload_from_model("alexnet", {}).value()) / 4, 61090496);
  EXPECT_EQ(gradient_bytes(workload_from_model("alphago_zero", {}).value()) / 4, 22807284);
  EXPECT_EQ(gradient_bytes(workload_from_model("googlenet", {}).value()) / 4, 6990272);
  EXPECT_EQ(gradient_bytes(workload_from_model("ncf", {}).value()) / 4, 6612184);
  EXPECT_EQ(gradient_bytes(workload_from_model("transformer_base", {}).value()) / 4, 62984192);
  EXPECT_NEAR(forward_macs(workload_from_model("alexnet", {.batch = 1}).value()), 0.714e9, 0.002e9);
  EXPECT_NEAR(forward_macs(workload_from_model("googlenet", {.batch = 1}).value()), 1.58e9, 0.03e9);
  EXPECT_NEAR(gradient_bytes(workload_from_model("bert", {}).value()) / 4, 333e6, 3e6);
  EXPECT_NEAR(gradient_bytes(workload_from_model("gpt3_xl", {}).value()) / 4, 1.3e9, 0.03e9);
  EXPECT_NEAR(gradient_bytes(workload_from_model("llama2_7b", {}).value()) / 4, 6.74e9, 0.01e9);
}

std::vector<std::int64_t> collective_sizes(const Workload& w) {
  std::vector<std::int64_t> sizes;
  for (const WorkNode& node : w.nodes) {
    if (node.collective) sizes.push_back(node.collective->bytes.count);
  }
  return sizes;
}

// Buckets close once they are full, in the order in which gradients come; every layer's next forward waits for its own.
TEST(Workloads, BucketsHoldAllGradientsOnce) {
  const Workload plain = workload_from_model("resnet50", {}).value();
  const std::int64_t bucket = 25 << 20;
  const Workload w = workload_from_model("resnet50", {.bucket = {bucket}}).value();
  ASSERT_TRUE(validate(w));
  const std::vector<std::int64_t> sizes = collective_sizes(w);
  EXPECT_EQ(sizes.size(), 4U);  // 102 MB, and what overshoots
  EXPECT_EQ(gradient_bytes(w), gradient_bytes(plain));
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    EXPECT_GE(sizes[i], bucket);
    EXPECT_LT(sizes[i], bucket + 9437184);  // the largest layer
  }
  std::size_t waits = 0, before = 0;
  for (const WorkNode& node : w.nodes) waits += node.after_previous.size();
  for (const WorkNode& node : plain.nodes) before += node.after_previous.size();
  EXPECT_EQ(waits, before);
  EXPECT_EQ(collective_sizes(workload_from_model("resnet50", {.bucket = {std::int64_t{1} << 40}}).value()).size(), 1U);
}

// A table that two layers share stands in the bucket once, and nothing waits for ever for the layer that ends it.
TEST(Workloads, BucketsOfSharedTables) {
  const Workload w = workload_from_model("gpt3_xl", {.bucket = {std::int64_t{1} << 40}}).value();
  ASSERT_TRUE(validate(w));
  EXPECT_EQ(gradient_bytes(w), gradient_bytes(workload_from_model("gpt3_xl", {}).value()));
}

// 16 bytes per weight with f16 gradients and Adam: the published 2 + 2 + 12.
TEST(Workloads, MemoryPerWeightIsThePublishedOne) {
  const Workload w = workload_from_model("gpt3_xl", {.gradients = DataType::kF16}).value();
  const double weights = gradient_bytes(w) / 2;
  ASSERT_TRUE(w.memory);
  EXPECT_EQ(w.memory->parameters, 2 * weights);
  EXPECT_EQ(w.memory->gradients, 2 * weights);
  EXPECT_EQ(w.memory->optimizer, 12 * weights);
  const Workload sgd = workload_from_model("gpt3_xl", {.optimizer = Optimizer::kSgd}).value();
  EXPECT_EQ(sgd.memory->optimizer, 8 * weights);
  EXPECT_EQ(sgd.memory->gradients, 4 * weights);
  const Workload f32 =
      workload_from_model("gpt3_xl", {.compute = DataType::kF32, .optimizer = Optimizer::kAdam}).value();
  EXPECT_EQ(f32.memory->optimizer, 8 * weights);
  EXPECT_EQ(workload_from_model("gpt3_xl", {.optimizer = Optimizer::kNone}).value().memory->optimizer, 0);
}

// Korthikanti et al., 2022: 34 s b h bytes a block with scores recomputed, two of them masks of dropout.
TEST(Workloads, ActivationsOfABlockAreThePublishedOnes) {
  const double s = 2048, b = 8, h = 2048, words = 50257;
  const Workload w = workload_from_model("gpt3_xl", {}).value();
  EXPECT_EQ(w.memory->activations, 24 * 32 * s * b * h + 2 * b * s * (h + words));
}

TEST(Workloads, MemoryIsUnknownWhereTablesHaveNoRows) {
  EXPECT_FALSE(workload_from_model("dlrm", {}).value().memory);
  EXPECT_TRUE(workload_from_model("resnet50", {}).value().memory);
  EXPECT_FALSE(parse_optimizer("adma"));
  EXPECT_EQ(parse_optimizer("sgd").value(), Optimizer::kSgd);
}

TEST(Workloads, WorkGrowsWithTheBatchAndGradientsDoNot) {
  const Workload one = workload_from_model("bert", {.batch = 1}).value();
  const Workload four = workload_from_model("bert", {.batch = 4}).value();
  EXPECT_EQ(forward_macs(four), 4 * forward_macs(one));
  EXPECT_EQ(gradient_bytes(four), gradient_bytes(one));
}

TEST(Workloads, RefuseWhatTheyAreNot) {
  EXPECT_NE(workload_from_model("resnet5", {}).error().text.find("did you mean 'resnet50'?"), std::string::npos);
  EXPECT_FALSE(workload_from_model("resnet50", {.sequence = 5}));
  EXPECT_FALSE(workload_from_model("bert", {.batch = 1U << 30}));
}

}  // namespace
}  // namespace hocket

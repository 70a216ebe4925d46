#include "workload/networks.h"

#include <array>

namespace hocket {
namespace {

struct Stage {
  int blocks;
  double width, size_in, stride;
};
constexpr std::array<Stage, 4> kResidualStages{{{3, 64, 56, 1}, {4, 128, 56, 2}, {6, 256, 28, 2}, {3, 512, 14, 2}}};

/// A layer before a batch normalisation, or a layer normalisation, which keeps its input for backward.
ModelLayer normalised(ModelLayer layer) {
  layer.kept = layer.output;
  return layer;
}

/// The first `stages` of the four stages of ResNet-50's bottleneck blocks, and what comes before them.
std::vector<ModelLayer> residual_trunk(int stages) {
  std::vector<ModelLayer> layers;
  layers.push_back(convolution("conv1", {7, 3, 64, 224, 2}));
  double in = 64;
  for (int stage = 0; stage < stages; ++stage) {
    const Stage& s = kResidualStages[static_cast<std::size_t>(stage)];
    for (int block = 0; block < s.blocks; ++block) {
      const double stride = block == 0 ? s.stride : 1;
      const double size = block == 0 ? s.size_in : s.size_in / s.stride;
      const std::string name = fmt::format("conv{}_{}", stage + 2, block + 1);
      if (block == 0) layers.push_back(convolution(name + "_project", {1, in, 4 * s.width, size, stride}));
      layers.push_back(convolution(name + "_a", {1, in, s.width, size, 1}));
      layers.push_back(convolution(name + "_b", {3, s.width, s.width, size, stride}));
      layers.push_back(convolution(name + "_c", {1, s.width, 4 * s.width, size / stride, 1}));
      in = 4 * s.width;
    }
  }
  for (ModelLayer& layer : layers) layer.kept = layer.output;  // each has a batch normalisation
  return layers;
}

/// Channels of the four branches of an inception block; two of them narrow before they convolve.
struct Inception {
  const char* name;
  double size, in, one, narrow3, three, narrow5, five, pool;
};
constexpr std::array<Inception, 9> kInceptions{{{"3a", 28, 192, 64, 96, 128, 16, 32, 32},
                                                {"3b", 28, 256, 128, 128, 192, 32, 96, 64},
                                                {"4a", 14, 480, 192, 96, 208, 16, 48, 64},
                                                {"4b", 14, 512, 160, 112, 224, 24, 64, 64},
                                                {"4c", 14, 512, 128, 128, 256, 24, 64, 64},
                                                {"4d", 14, 512, 112, 144, 288, 32, 64, 64},
                                                {"4e", 14, 528, 256, 160, 320, 32, 128, 128},
                                                {"5a", 7, 832, 256, 160, 320, 32, 128, 128},
                                                {"5b", 7, 832, 384, 192, 384, 48, 128, 128}}};

/// A table of which a sample reads one row; its gradient is taken to be as large as the table.
ModelLayer table(std::string name, double rows, double width, double reads = 1) {
  return {std::move(name), 0, rows * width, 0, width * reads};
}

}  // namespace

std::vector<ModelLayer> alexnet_layers() {
  return {convolution("conv1", {11, 3, 64, 220, 4}),  convolution("conv2", {5, 64, 192, 27, 1}),
          convolution("conv3", {3, 192, 384, 13, 1}), convolution("conv4", {3, 384, 256, 13, 1}),
          convolution("conv5", {3, 256, 256, 13, 1}), fully_connected("fc6", 256.0 * 6 * 6, 4096),
          fully_connected("fc7", 4096, 4096),         fully_connected("fc8", 4096, 1000)};
}

std::vector<ModelLayer> alphago_zero_layers() {
  constexpr double kBoard = 19;
  constexpr int kResidualBlocks = 19;
  std::vector<ModelLayer> layers;
  layers.push_back(normalised(convolution("conv", {3, 17, 256, kBoard, 1})));
  for (int block = 1; block <= kResidualBlocks; ++block) {
    for (const char part : {'a', 'b'})
      layers.push_back(normalised(convolution(fmt::format("block{}_{}", block, part), {3, 256, 256, kBoard, 1})));
  }
  layers.push_back(normalised(convolution("policy_conv", {1, 256, 2, kBoard, 1})));
  layers.push_back(fully_connected("policy_fc", 2 * kBoard * kBoard, kBoard * kBoard + 1));
  layers.push_back(normalised(convolution("value_conv", {1, 256, 1, kBoard, 1})));
  layers.push_back(fully_connected("value_fc1", kBoard * kBoard, 256));
  layers.push_back(fully_connected("value_fc2", 256, 1));
  return layers;
}

std::vector<ModelLayer> faster_rcnn_layers() {
  constexpr double kAnchors = 9;
  std::vector<ModelLayer> layers = residual_trunk(3);
  layers.push_back(convolution("rpn_conv", {3, 1024, 512, 14, 1}));
  layers.push_back(convolution("rpn_boxes", {1, 512, 4 * kAnchors, 14, 1}));
  layers.push_back(convolution("rpn_classes", {1, 512, 2 * kAnchors, 14, 1}));
  return layers;
}

std::vector<ModelLayer> googlenet_layers() {
  std::vector<ModelLayer> layers{convolution("conv1", {7, 3, 64, 224, 2}),
                                 convolution("conv2_narrow", {1, 64, 64, 56, 1}),
                                 convolution("conv2", {3, 64, 192, 56, 1})};
  for (const Inception& i : kInceptions) {
    const auto add = [&](std::string_view part, double kernel, double in, double out) {
      layers.push_back(convolution(fmt::format("inception{}_{}", i.name, part), {kernel, in, out, i.size, 1}));
    };
    add("1x1", 1, i.in, i.one);
    add("3x3_narrow", 1, i.in, i.narrow3);
    add("3x3", 3, i.narrow3, i.three);
    add("5x5_narrow", 1, i.in, i.narrow5);
    add("5x5", 5, i.narrow5, i.five);
    add("pool", 1, i.in, i.pool);
  }
  layers.push_back(fully_connected("fc", 1024, 1000));
  return layers;
}

std::vector<ModelLayer> ncf_layers() {
  constexpr double kUsers = 138493;
  constexpr double kItems = 26744;
  constexpr double kFactors = 8;
  constexpr double kWidth = 32;
  return {table("gmf users", kUsers, kFactors),         table("gmf items", kItems, kFactors),
          table("mlp users", kUsers, kWidth),           table("mlp items", kItems, kWidth),
          fully_connected("fc1", 2 * kWidth, kWidth),   fully_connected("fc2", kWidth, kWidth / 2),
          fully_connected("fc3", kWidth / 2, kFactors), fully_connected("predict", 2 * kFactors, 1)};
}

std::vector<ModelLayer> resnet50_layers() {
  std::vector<ModelLayer> layers = residual_trunk(4);
  layers.push_back(fully_connected("fc", 2048, 1000));
  return layers;
}

std::vector<ModelLayer> transformer_base_layers(double tokens) {
  constexpr double kHidden = 512;
  constexpr double kInner = 2048;
  constexpr double kWords = 37000;
  constexpr std::uint32_t kHeads = 8;
  std::vector<ModelLayer> layers;
  std::uint32_t block = 0;
  const auto add = [&](ModelLayer layer, TensorSplit split, std::uint32_t cut_width) {
    layer.split = split;
    layer.cut_width = cut_width;
    layer.block = block;
    if (split == TensorSplit::kRow && block > 0) layer.kept_whole = layer.output;  // its sum is normalised
    layers.push_back(std::move(layer));
  };
  add(table("words", kWords, kHidden, tokens), TensorSplit::kRow, 0);
  const auto attend = [&](const std::string& name) {
    add(fully_connected(name + " query key value", kHidden, 3 * kHidden, tokens), TensorSplit::kColumn, kHeads);
    add({name + " scores", 2 * tokens * tokens * kHidden, 0, 3 * kHidden * tokens, kHidden * tokens},
        TensorSplit::kInside, kHeads);
    add(fully_connected(name + " projection", kHidden, kHidden, tokens), TensorSplit::kRow, kHeads);
  };
  for (const std::string side : {"encoder", "decoder"}) {
    for (int i = 1; i <= 6; ++i) {
      const std::string name = fmt::format("{} {}", side, i);
      ++block;
      attend(name);
      if (side == "decoder") attend(name + " source");
      add(fully_connected(name + " up", kHidden, kInner, tokens), TensorSplit::kColumn, kInner);
      add(fully_connected(name + " down", kInner, kHidden, tokens), TensorSplit::kRow, kInner);
      layers.back().carried = kHidden * tokens;  // words of the target, then what the encoder found
    }
  }
  block = 0;
  add(fully_connected("head", kHidden, kWords, tokens), TensorSplit::kColumn, 0);
  layers.back().owns_weights = false;         // the table of words, used once more
  layers.back().kept = layers.back().output;  // what the loss is made of
  return layers;
}

}  // namespace hocket

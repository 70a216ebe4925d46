// VGG-16 (Simonyan and Zisserman, ICLR 2015, table 1, column D) on 224 x 224 images, without biases: 138,344,128
// weights.
#include "workload/layers.h"

namespace hocket {
namespace {

struct Stage {
  int layers;
  double channels, size;
};
constexpr Stage kStages[] = {{2, 64, 224}, {2, 128, 112}, {3, 256, 56}, {3, 512, 28}, {3, 512, 14}};

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) {
  std::vector<ModelLayer> all;
  double in = 3;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.layers; ++i) {
      all.push_back(convolution(fmt::format("conv{}", all.size() + 1), {3, in, stage.channels, stage.size, 1}));
      in = stage.channels;
    }
  }
  all.push_back(fully_connected("fc14", 512.0 * 7 * 7, 4096));
  all.push_back(fully_connected("fc15", 4096, 4096));
  all.push_back(fully_connected("fc16", 4096, 1000));
  return all;
}

}  // namespace

extern const WorkloadModel workload_vgg16{
    .name = "vgg16",
    .description = "VGG-16 on 224 x 224 images",
    .source = "Simonyan and Zisserman, ICLR 2015, table 1",
    .batch = 32,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

// ResNet-50 (He et al., CVPR 2016, table 1) on 224 x 224 images: 53 convolutions and the classifier, without biases and
// batch normalisation: 25,502,912 weights.
#include "workload/layers.h"

namespace hocket {
namespace {

struct Stage {
  double blocks, width, size_in, stride;
};
constexpr Stage kStages[] = {{3, 64, 56, 1}, {4, 128, 56, 2}, {6, 256, 28, 2}, {3, 512, 14, 2}};

Result<Workload> build(const ModelRequest& request) {
  std::vector<ModelLayer> layers;
  layers.push_back(convolution("conv1", {7, 3, 64, 224, 2}));
  double in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const Stage& s = kStages[stage];
    for (int block = 0; block < static_cast<int>(s.blocks); ++block) {
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
  layers.push_back(fully_connected("fc", 2048, 1000));
  return data_parallel("resnet50", "He et al., CVPR 2016, table 1", layers, request);
}

}  // namespace

extern const WorkloadModel workload_resnet50{
    .name = "resnet50",
    .description = "ResNet-50 on 224 x 224 images, data-parallel",
    .source = "He et al., CVPR 2016, table 1",
    .batch = 32,
    .sequence = 0,
    .build = build,
};

}  // namespace hocket

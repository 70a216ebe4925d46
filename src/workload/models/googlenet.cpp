// GoogLeNet (Szegedy et al., CVPR 2015, table 1) on 224 x 224 images, without biases and side classifiers: 6,990,272
// weights.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return googlenet_layers(); }

}  // namespace

extern const WorkloadModel workload_googlenet{
    .name = "googlenet",
    .description = "GoogLeNet on 224 x 224 images",
    .source = "Szegedy et al., CVPR 2015, table 1",
    .batch = 32,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

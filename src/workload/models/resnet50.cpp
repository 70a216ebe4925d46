// ResNet-50 (He et al., CVPR 2016, table 1) on 224 x 224 images: 53 convolutions and the classifier, without biases and
// batch normalisation: 25,502,912 weights.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return resnet50_layers(); }

}  // namespace

extern const WorkloadModel workload_resnet50{
    .name = "resnet50",
    .description = "ResNet-50 on 224 x 224 images",
    .source = "He et al., CVPR 2016, table 1",
    .batch = 32,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

// AlexNet (Krizhevsky, arXiv 1404.5997: one column of layers) on 224 x 224 images, without biases: 61,090,496 weights.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return alexnet_layers(); }

}  // namespace

extern const WorkloadModel workload_alexnet{
    .name = "alexnet",
    .description = "AlexNet in one column on 224 x 224 images",
    .source = "Krizhevsky, arXiv 1404.5997",
    .batch = 128,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

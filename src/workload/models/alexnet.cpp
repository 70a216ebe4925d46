// AlexNet (Krizhevsky, arXiv 1404.5997: one column of layers) on 224 x 224 images, without biases: 61,090,496 weights.
#include "workload/networks.h"

namespace hocket {
namespace {

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("alexnet", "Krizhevsky, arXiv 1404.5997", alexnet_layers(), request);
}

}  // namespace

extern const WorkloadModel workload_alexnet{
    .name = "alexnet",
    .description = "AlexNet in one column on 224 x 224 images, data-parallel",
    .source = "Krizhevsky, arXiv 1404.5997",
    .batch = 128,
    .sequence = 0,
    .build = build,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

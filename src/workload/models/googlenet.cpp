// GoogLeNet (Szegedy et al., CVPR 2015, table 1) on 224 x 224 images, without biases and side classifiers: 6,990,272
// weights.
#include "workload/networks.h"

namespace hocket {
namespace {

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("googlenet", "Szegedy et al., CVPR 2015, table 1", googlenet_layers(), request);
}

}  // namespace

extern const WorkloadModel workload_googlenet{
    .name = "googlenet",
    .description = "GoogLeNet on 224 x 224 images, data-parallel",
    .source = "Szegedy et al., CVPR 2015, table 1",
    .batch = 32,
    .sequence = 0,
    .build = build,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

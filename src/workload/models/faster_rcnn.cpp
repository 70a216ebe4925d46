// Faster R-CNN (Ren et al., NeurIPS 2015) over the first four groups of ResNet-50 on 224 x 224 images: trunk and
// proposals; what follows for each region is left out.
#include "workload/networks.h"

namespace hocket {
namespace {

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("faster_rcnn", "Ren et al., NeurIPS 2015; He et al., CVPR 2016", faster_rcnn_layers(), request);
}

}  // namespace

extern const WorkloadModel workload_faster_rcnn{
    .name = "faster_rcnn",
    .description = "Faster R-CNN's trunk (ResNet-50) and proposals, data-parallel",
    .source = "Ren et al., NeurIPS 2015; He et al., CVPR 2016",
    .batch = 8,
    .sequence = 0,
    .build = build,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

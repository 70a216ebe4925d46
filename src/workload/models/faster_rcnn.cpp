// Faster R-CNN (Ren et al., NeurIPS 2015) over the first four groups of ResNet-50 on 224 x 224 images: trunk and
// proposals; what follows for each region is left out.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return faster_rcnn_layers(); }

}  // namespace

extern const WorkloadModel workload_faster_rcnn{
    .name = "faster_rcnn",
    .description = "Faster R-CNN's trunk (ResNet-50) and proposals",
    .source = "Ren et al., NeurIPS 2015; He et al., CVPR 2016",
    .batch = 8,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

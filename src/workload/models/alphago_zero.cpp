// AlphaGo Zero (Silver et al., Nature 2017, methods): 19 residual blocks of 256 channels on a 19 x 19 board, both
// heads, without biases: 22,807,284 weights.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return alphago_zero_layers(); }

}  // namespace

extern const WorkloadModel workload_alphago_zero{
    .name = "alphago_zero",
    .description = "AlphaGo Zero with 19 residual blocks",
    .source = "Silver et al., Nature 550, 2017, methods",
    .batch = 32,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
};

}  // namespace hocket

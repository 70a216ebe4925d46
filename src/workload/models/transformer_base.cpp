// The base Transformer (Vaswani et al., NeurIPS 2017, table 3): six layers a side, width 512, one table of 37,000
// words.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& request) { return transformer_base_layers(request.sequence); }

}  // namespace

extern const WorkloadModel workload_transformer_base{
    .name = "transformer_base",
    .description = "Transformer (base), six layers a side",
    .source = "Vaswani et al., NeurIPS 2017, table 3; 32 tokens a sentence are assumed",
    .batch = 128,
    .sequence = 32,
    .layers = layers,
};

}  // namespace hocket

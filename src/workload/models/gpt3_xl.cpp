// GPT-3 XL (Brown et al., 2020, table 2.1): 24 blocks of width 2048, 1.3 billion weights.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{
    .layers = 24, .hidden = 2048, .heads = 24, .inner = 8192, .words = 50257, .ties_words = true};

std::vector<ModelLayer> layers(const ModelRequest& request) { return transformer_layers(kShape, request.sequence); }

}  // namespace

extern const WorkloadModel workload_gpt3_xl{
    .name = "gpt3_xl",
    .description = "GPT-3 XL (1.3 billion weights)",
    .source = "Brown et al., arXiv 2005.14165, table 2.1",
    .batch = 8,
    .sequence = 2048,
    .layers = layers,
};

}  // namespace hocket

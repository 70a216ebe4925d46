// LLaMA 2 7B (Touvron et al., 2023): 32 blocks of width 4096 with a gated feed-forward part of 11008.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{
    .layers = 32, .hidden = 4096, .heads = 32, .inner = 11008, .words = 32000, .gated = true};

std::vector<ModelLayer> layers(const ModelRequest& request) { return transformer_layers(kShape, request.sequence); }

}  // namespace

extern const WorkloadModel workload_llama2_7b{
    .name = "llama2_7b",
    .description = "LLaMA 2 7B",
    .source = "Touvron et al., arXiv 2307.09288",
    .batch = 1,
    .sequence = 4096,
    .layers = layers,
};

}  // namespace hocket

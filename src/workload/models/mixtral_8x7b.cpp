// Mixtral 8x7B (Jiang et al., 2024, table 1): 32 blocks of width 4096 with 32 heads that share 8 keys and values; each
// token takes two of eight gated feed-forward parts of 14336. 46.7 billion weights, 12.9 billion used by a token.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{.layers = 32,
                                  .hidden = 4096,
                                  .heads = 32,
                                  .key_value = 1024,
                                  .inner = 14336,
                                  .words = 32000,
                                  .gated = true,
                                  .experts = 8,
                                  .taken = 2};

std::vector<ModelLayer> layers(const ModelRequest& request) { return transformer_layers(kShape, request.sequence); }

}  // namespace

extern const WorkloadModel workload_mixtral_8x7b{
    .name = "mixtral_8x7b",
    .description = "Mixtral 8x7B, two of eight experts a token",
    .source = "Jiang et al., arXiv 2401.04088, table 1; 4,096 tokens a sample are assumed",
    .batch = 1,
    .sequence = 4096,
    .layers = layers,
};

}  // namespace hocket

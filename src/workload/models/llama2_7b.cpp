// LLaMA 2 7B (Touvron et al., 2023): 32 blocks of width 4096 with a gated feed-forward part of 11008.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{.layers = 32, .hidden = 4096, .inner = 11008, .words = 32000, .gated = true};

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("llama2_7b", "Touvron et al., arXiv 2307.09288", transformer_layers(kShape, request.sequence),
                       request);
}

}  // namespace

extern const WorkloadModel workload_llama2_7b{
    .name = "llama2_7b",
    .description = "LLaMA 2 7B, data-parallel",
    .source = "Touvron et al., arXiv 2307.09288",
    .batch = 1,
    .sequence = 4096,
    .build = build,
};

}  // namespace hocket

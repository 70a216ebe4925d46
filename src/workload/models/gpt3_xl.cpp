// GPT-3 XL (Brown et al., 2020, table 2.1): 24 blocks of width 2048, 1.3 billion weights.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{.layers = 24, .hidden = 2048, .inner = 8192, .words = 50257, .ties_words = true};

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("gpt3_xl", "Brown et al., arXiv 2005.14165, table 2.1",
                       transformer_layers(kShape, request.sequence), request);
}

}  // namespace

extern const WorkloadModel workload_gpt3_xl{
    .name = "gpt3_xl",
    .description = "GPT-3 XL (1.3 billion weights), data-parallel",
    .source = "Brown et al., arXiv 2005.14165, table 2.1",
    .batch = 8,
    .sequence = 2048,
    .build = build,
};

}  // namespace hocket

// The base Transformer (Vaswani et al., NeurIPS 2017, table 3): six layers a side, width 512, one table of 37,000
// words.
#include "workload/networks.h"

namespace hocket {
namespace {

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("transformer_base", "Vaswani et al., NeurIPS 2017, table 3; 32 tokens a sentence are assumed",
                       transformer_base_layers(request.sequence), request);
}

}  // namespace

extern const WorkloadModel workload_transformer_base{
    .name = "transformer_base",
    .description = "Transformer (base), six layers a side, data-parallel",
    .source = "Vaswani et al., NeurIPS 2017, table 3; 32 tokens a sentence are assumed",
    .batch = 128,
    .sequence = 32,
    .build = build,
};

}  // namespace hocket

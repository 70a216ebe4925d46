// BERT large (Devlin et al., NAACL 2019): 24 blocks of width 1024.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{.layers = 24, .hidden = 1024, .inner = 4096, .words = 30522, .ties_words = true};

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("bert", "Devlin et al., NAACL 2019", transformer_layers(kShape, request.sequence), request);
}

}  // namespace

extern const WorkloadModel workload_bert{
    .name = "bert",
    .description = "BERT large, data-parallel",
    .source = "Devlin et al., NAACL 2019",
    .batch = 8,
    .sequence = 512,
    .build = build,
};

}  // namespace hocket

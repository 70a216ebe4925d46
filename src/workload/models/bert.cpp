// BERT large (Devlin et al., NAACL 2019): 24 blocks of width 1024.
#include "workload/transformer.h"

namespace hocket {
namespace {

constexpr TransformerShape kShape{
    .layers = 24, .hidden = 1024, .heads = 16, .inner = 4096, .words = 30522, .ties_words = true};

std::vector<ModelLayer> layers(const ModelRequest& request) { return transformer_layers(kShape, request.sequence); }

}  // namespace

extern const WorkloadModel workload_bert{
    .name = "bert",
    .description = "BERT large",
    .source = "Devlin et al., NAACL 2019",
    .batch = 8,
    .sequence = 512,
    .layers = layers,
};

}  // namespace hocket

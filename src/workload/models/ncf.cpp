// Neural collaborative filtering (He et al., WWW 2017: NeuMF, 8 factors, tables of 32 for the layers) on MovieLens-20M:
// tables of 138,493 users and 26,744 items, whose gradient is taken to be dense.
#include "workload/networks.h"

namespace hocket {
namespace {

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) { return ncf_layers(); }

}  // namespace

extern const WorkloadModel workload_ncf{
    .name = "ncf",
    .description = "Neural collaborative filtering on MovieLens-20M",
    .source = "He et al., WWW 2017; MovieLens-20M",
    .batch = 1024,
    .sequence = 0,
    .layers = layers,
};

}  // namespace hocket

// Neural collaborative filtering (He et al., WWW 2017: NeuMF, 8 factors, tables of 32 for the layers) on MovieLens-20M:
// tables of 138,493 users and 26,744 items, whose gradient is taken to be dense.
#include "workload/networks.h"

namespace hocket {
namespace {

Result<Workload> build(const ModelRequest& request) {
  return data_parallel("ncf", "He et al., WWW 2017; MovieLens-20M", ncf_layers(), request);
}

}  // namespace

extern const WorkloadModel workload_ncf{
    .name = "ncf",
    .description = "Neural collaborative filtering on MovieLens-20M, data-parallel",
    .source = "He et al., WWW 2017; MovieLens-20M",
    .batch = 1024,
    .sequence = 0,
    .build = build,
};

}  // namespace hocket

// torus:AxBx... : every npu has two cables per dimension, wrapping around. A dimension of 2 has two parallel cables, as
// in MultiTree's and ASTRA-sim's tori; a dimension of 1 has none. Dimension 0 is innermost (ranks count along it
// first).
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) { return build_grid(request, "torus", true); }

}  // namespace

extern const TopologyFamily family_torus{
    .name = "torus",
    .grammar = "torus:AxBx...",
    .description = "npus on a grid of any dimension with wrap-around cables; a dimension of 2 has two parallel cables",
    .example = "torus:4x4",
    .build = build,
};

}  // namespace hocket

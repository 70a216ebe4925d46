// mesh:AxBx... : npus on a grid, one cable between neighbours, no wrap-around. Dimension 0 is innermost.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) { return build_grid(request, "mesh", false); }

}  // namespace

extern const TopologyFamily family_mesh{
    .name = "mesh",
    .grammar = "mesh:AxBx...",
    .description = "npus on a grid of any dimension, neighbours joined, no wrap-around",
    .example = "mesh:4x4",
    .build = build,
};

}  // namespace hocket

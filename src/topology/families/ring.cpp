// ring:N : npus in a circle, one cable between neighbours; the same network as torus:N (so ring:2 has two parallel
// cables).
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY(parse_sizes(request, 1, 1));
  return build_grid(request, "ring", true);
}

}  // namespace

extern const TopologyFamily family_ring{
    .name = "ring",
    .grammar = "ring:N",
    .description = "npus in a circle, one cable between neighbours",
    .example = "ring:8",
    .build = build,
};

}  // namespace hocket

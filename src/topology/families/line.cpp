// line:N : npus in a row, one cable between neighbours; the same network as mesh:N.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY(parse_sizes(request, 1, 1));
  return build_grid(request, "line", false);
}

}  // namespace

extern const TopologyFamily family_line{
    .name = "line",
    .grammar = "line:N",
    .description = "npus in a row, one cable between neighbours",
    .example = "line:4",
    .build = build,
};

}  // namespace hocket

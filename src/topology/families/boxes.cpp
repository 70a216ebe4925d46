// boxes:BxG : B boxes of G npus. Inside a box every npu has one cable to the box's switch (inner rate). Outside, every
// npu has its own nic, joined to one core switch at the outer rate. The cable between npu and nic carries the faster of
// the two rates and adds no latency, so that the outer rate and latency are what a user sees between boxes. One box has
// no nics; boxes of one npu have no inner switch. Extents {G, B}: dimension 0 is inside.
#include <algorithm>

#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 2, 2));
  const std::uint32_t boxes = sizes[0];
  const std::uint32_t npus = sizes[1];
  if (std::uint64_t{boxes} * npus * 6 > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "boxes"};
  add_npus(builder, {npus, boxes});
  const LinkRate& inner = request.links[0];
  if (npus > 1) {
    const VertexId switch0 = add_switches(builder, "nvswitch", boxes);
    for (VertexId v = 0; v < boxes * npus; ++v) {
      builder.add_cable(v, switch0 + v / npus, inner.bandwidth, inner.latency);
    }
  }
  if (boxes > 1) {
    const LinkRate& outer = request.uplink;
    const VertexId core = builder.add_vertex("core", VertexKind::kSwitch);
    for (VertexId v = 0; v < boxes * npus; ++v) {
      const VertexId nic = builder.add_vertex(fmt::format("nic{}", v), VertexKind::kNic);
      builder.add_cable(v, nic, std::max(inner.bandwidth, outer.bandwidth), Seconds{0});
      builder.add_cable(nic, core, outer.bandwidth, outer.latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_boxes{
    .name = "boxes",
    .grammar = "boxes:BxG",
    .description = "B boxes of G npus: a switch inside each box, a nic per npu on one core switch outside",
    .example = "boxes:4x8",
    .build = build,
};

}  // namespace hocket

// fattree:LEAVESxDOWN[xUP] : two levels. LEAVES leaf switches with DOWN npus each (cables at the inner rate), UP spine
// switches, every leaf joined to every spine by one cable at the outer rate. UP is DOWN when not given, which is full
// bisection when both rates are equal. Dimension 0 runs inside a leaf: extents {DOWN, LEAVES}.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 2, 3));
  const std::uint32_t leaves = sizes[0];
  const std::uint32_t down = sizes[1];
  const std::uint32_t up = sizes.size() == 3 ? sizes[2] : down;
  if (2 * (std::uint64_t{leaves} * down + std::uint64_t{leaves} * up) > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "fattree"};
  add_npus(builder, {down, leaves});
  const VertexId leaf0 = add_switches(builder, "leaf", leaves);
  const VertexId spine0 = add_switches(builder, "spine", up);
  for (VertexId v = 0; v < leaves * down; ++v) {
    builder.add_cable(v, leaf0 + v / down, request.links[0].bandwidth, request.links[0].latency);
  }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t s = 0; s < up; ++s) {
      builder.add_cable(leaf0 + l, spine0 + s, request.uplink.bandwidth, request.uplink.latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_fattree{
    .name = "fattree",
    .grammar = "fattree:LEAVESxDOWN[xUP]",
    .description = "two-level fat tree: DOWN npus on each leaf, UP spines (default DOWN) joined to every leaf",
    .example = "fattree:4x4",
    .build = build,
};

}  // namespace hocket

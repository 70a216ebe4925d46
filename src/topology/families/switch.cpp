// switch:N : N npus, each with one cable to one switch.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 1, 1));
  TopologyBuilder builder{std::string(request.spec), "switch"};
  add_npus(builder, {sizes[0]});
  const VertexId hub = builder.add_vertex("switch", VertexKind::kSwitch);
  for (VertexId v = 0; v < sizes[0]; ++v) {
    builder.add_cable(v, hub, request.links[0].bandwidth, request.links[0].latency);
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_switch{
    .name = "switch",
    .grammar = "switch:N",
    .description = "npus around one switch, one cable each",
    .example = "switch:8",
    .build = build,
};

}  // namespace hocket

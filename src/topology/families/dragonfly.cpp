// dragonfly:GxRxN : G groups of R routers with N npus each. npu cables have the first link rate; the routers of a group
// are all joined at the second (the first when only one is given); every pair of groups has one cable at the outer
// rate. A group's global cables go round its routers: the one to the group k places further on is at router (k-1) mod
// R. Extents {N, R, G}.
#include <algorithm>

#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 3, 3));
  const std::uint64_t groups = sizes[0], routers = sizes[1], npus = sizes[2];
  if (groups * routers * npus * 2 + groups * routers * (routers - 1) + groups * (groups - 1) > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "dragonfly"};
  add_npus(builder, {sizes[2], sizes[1], sizes[0]});
  const VertexId router0 = add_switches(builder, "router", sizes[0] * sizes[1]);
  const auto router_at = [&](std::uint64_t group, std::uint64_t router) {
    return router0 + static_cast<VertexId>(group * routers + router);
  };
  const LinkRate& host = request.links[0];
  const LinkRate& local = request.links[std::min<std::size_t>(1, request.links.size() - 1)];
  for (VertexId v = 0; v < groups * routers * npus; ++v) {
    builder.add_cable(v, router0 + v / sizes[2], host.bandwidth, host.latency);
  }
  for (std::uint64_t i = 0; i < groups * routers * routers; ++i) {
    const std::uint64_t group = i / (routers * routers), a = i / routers % routers, b = i % routers;
    if (a < b) builder.add_cable(router_at(group, a), router_at(group, b), local.bandwidth, local.latency);
  }
  for (std::uint64_t a = 0; a < groups; ++a) {
    for (std::uint64_t b = a + 1; b < groups; ++b) {
      const VertexId at_a = router_at(a, (b - a - 1) % routers);
      const VertexId at_b = router_at(b, (groups + a - b - 1) % routers);
      builder.add_cable(at_a, at_b, request.uplink.bandwidth, request.uplink.latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_dragonfly{
    .name = "dragonfly",
    .grammar = "dragonfly:GxRxN",
    .description = "G groups of R joined routers with N npus each, one cable between every two groups",
    .example = "dragonfly:5x4x2",
    .build = build,
};

}  // namespace hocket

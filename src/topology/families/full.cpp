// full:N : every npu has one cable to every other npu.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 1, 1));
  const std::uint64_t count = sizes[0];
  if (count * (count - 1) > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "full"};
  add_npus(builder, {sizes[0]});
  for (VertexId a = 0; a < count; ++a) {
    for (VertexId b = a + 1; b < count; ++b) {
      builder.add_cable(a, b, request.links[0].bandwidth, request.links[0].latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_full{
    .name = "full",
    .grammar = "full:N",
    .description = "every npu has one cable to every other",
    .example = "full:8",
    .build = build,
};

}  // namespace hocket

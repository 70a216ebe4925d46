// hypercube:D : 2^D npus, one cable between every two whose numbers differ in one bit. Dimension d is bit d; unlike a
// torus of twos there is a single cable per dimension.
#include <algorithm>

#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

constexpr std::uint32_t kDimensionsMax = 20;

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 1, 1));
  const std::uint32_t dimensions = sizes[0];
  if (dimensions > kDimensionsMax) {
    return fail(Code::kInvalidArgument, "topology '{}': at most {} dimensions", request.spec, kDimensionsMax);
  }
  if ((std::uint64_t{dimensions} << dimensions) > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "hypercube"};
  const std::uint32_t count = 1U << dimensions;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::int32_t> at;
    for (std::uint32_t d = 0; d < dimensions; ++d) at.push_back(static_cast<std::int32_t>(i >> d & 1));
    builder.add_vertex(fmt::format("{}", i), VertexKind::kNpu, std::move(at));
  }
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    const LinkRate& rate = request.links[std::min<std::size_t>(d, request.links.size() - 1)];
    for (std::uint32_t i = 0; i < count; ++i) {
      if ((i >> d & 1) == 0) builder.add_cable(i, i | 1U << d, rate.bandwidth, rate.latency);
    }
  }
  builder.set_extents(std::vector<std::uint32_t>(dimensions, 2));
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_hypercube{
    .name = "hypercube",
    .grammar = "hypercube:D",
    .description = "2^D npus, one cable where numbers differ in one bit",
    .example = "hypercube:3",
    .build = build,
};

}  // namespace hocket

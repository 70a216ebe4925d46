// bigraph:SxM : S switches in two halves, every switch of one half joined to every switch of the other, M npus on each
// switch (EFLOPS, HPCA'20 section IV; MultiTree, ISCA'21, uses 4x8 = 32 and 4x16 = 64 npus). Between two switches of
// different halves there are M / (S/2) parallel cables at the outer rate, rounded up, so that a switch has as many
// cables to the other half as it has npus: full bisection when both rates are equal. Extents {M, S}.
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes, parse_sizes(request, 2, 2));
  const std::uint32_t switches = sizes[0];
  const std::uint32_t npus = sizes[1];
  if (switches % 2 != 0) {
    return fail(Code::kInvalidArgument, "topology '{}': {} switches do not make two equal halves", request.spec,
                switches);
  }
  const std::uint32_t half = switches / 2;
  const std::uint32_t parallel = (npus + half - 1) / half;
  if (2 * (std::uint64_t{switches} * npus + std::uint64_t{half} * half * parallel) > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  TopologyBuilder builder{std::string(request.spec), "bigraph"};
  add_npus(builder, {npus, switches});
  const VertexId switch0 = add_switches(builder, "switch", switches);
  for (VertexId v = 0; v < switches * npus; ++v) {
    builder.add_cable(v, switch0 + v / npus, request.links[0].bandwidth, request.links[0].latency);
  }
  for (std::uint32_t upper = 0; upper < half; ++upper) {
    for (std::uint32_t i = 0; i < half * parallel; ++i) {
      const VertexId lower = switch0 + half + i / parallel;
      builder.add_cable(switch0 + upper, lower, request.uplink.bandwidth, request.uplink.latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_bigraph{
    .name = "bigraph",
    .grammar = "bigraph:SxM",
    .description = "S switches in two halves, all joined across, M npus on each",
    .example = "bigraph:4x8",
    .build = build,
};

}  // namespace hocket

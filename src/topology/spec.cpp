#include "topology/spec.h"

#include <algorithm>
#include <vector>

#include "base/spelling.h"

namespace hocket {
namespace {

const TopologyFamily* find_family(std::string_view name) {
  for (const TopologyFamily* family : topology_families()) {
    if (family->name == name) return family;
  }
  return nullptr;
}

tl::unexpected<Error> unknown_family(std::string_view name) {
  std::string known;
  std::vector<std::string_view> names;
  for (const TopologyFamily* family : topology_families()) {
    known += fmt::format("{}{}", known.empty() ? "" : " ", family->grammar);
    names.push_back(family->name);
  }
  return fail(Code::kInvalidArgument, "unknown topology '{}'{} (no such file either; known: {})", name.substr(0, 200),
              spelling_hint(name, names), known);
}

}  // namespace

Result<LinkRate> parse_link_rate(std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  HOCKET_TRY_ASSIGN(const BytesPerSecond bandwidth, parse_bandwidth(text.substr(0, comma)));
  if (comma == text.size()) return LinkRate{bandwidth, kDefaultLink.latency};
  HOCKET_TRY_ASSIGN(const Seconds latency, parse_seconds(text.substr(comma + 1)));
  return LinkRate{bandwidth, latency};
}

Result<Topology> topology_from_spec(std::string_view spec, const TopologyOptions& options) {
  if (spec.size() > kSpecLengthMax) {
    return fail(Code::kInvalidArgument, "topology of {} characters, limit is {}", spec.size(), kSpecLengthMax);
  }
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const TopologyFamily* family = find_family(spec.substr(0, colon));
  if (family == nullptr) return unknown_family(spec.substr(0, colon));
  const std::vector<LinkRate> links = options.links.empty() ? std::vector{kDefaultLink} : options.links;
  const FamilyRequest request{.spec = spec,
                              .arguments = spec.substr(std::min(colon + 1, spec.size())),
                              .links = links,
                              .uplink = options.uplink.value_or(links.front())};
  HOCKET_TRY_ASSIGN(Topology topology, family->build(request));
  if (!options.links.empty()) return topology;
  return with_note(std::move(topology), "no --link given: 16GB/s,150ns each way assumed");
}

}  // namespace hocket

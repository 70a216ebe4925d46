#include "lab/wiring.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.h"

namespace hocket {

Result<Wiring> Wiring::of(const Topology& topology) {
  if (topology.vertices().size() > kVerticesMax)
    return fail(Code::kUnsupported, "{} has {} vertices; the lab has addresses for {}", topology.name(),
                topology.vertices().size(), kVerticesMax);
  if (topology.links().empty()) return fail(Code::kUnsupported, "{} has no link to run on", topology.name());
  std::map<std::pair<VertexId, VertexId>, std::pair<std::vector<LinkId>, std::vector<LinkId>>> pairs;
  for (LinkId id = 0; id < topology.links().size(); ++id) {
    const Link& link = topology.link(id);
    if (link.latency > Wiring::kLatencyMax)
      return fail(Code::kUnsupported, "{}: link {} has a latency of {}; the lab's may have {}", topology.name(),
                  topology.describe_link(id), format_seconds(link.latency), format_seconds(Wiring::kLatencyMax));
    auto& [there, back] = pairs[std::minmax(link.from, link.to)];
    (link.from < link.to ? there : back).push_back(id);
  }
  Wiring wiring;
  wiring.hop_of_.resize(topology.links().size());
  for (const auto& [vertices, links] : pairs) {
    const auto& [there, back] = links;
    for (std::size_t k = 0; k < std::max(there.size(), back.size()); ++k) {
      const std::size_t cable = wiring.ends_.size() / 2;
      if (cable >= kCablesMax)
        return fail(Code::kUnsupported, "{} has more than {} cables, as many as the lab has addresses for",
                    topology.name(), kCablesMax);
      for (const bool forth : {true, false}) {
        const std::vector<LinkId>& ours = forth ? there : back;
        const auto hop = static_cast<HopId>(wiring.ends_.size());
        CableEnd end{.vertex = forth ? vertices.first : vertices.second,
                     .link = k < ours.size() ? std::optional(ours[k]) : std::nullopt,
                     .device = {},
                     .address = fmt::format("10.200.{}.{}", cable / 128, cable % 128 * 2 + (forth ? 0 : 1)),
                     .rate = {},
                     .latency = {}};
        end.device = end.link ? fmt::format("l{}", *end.link) : fmt::format("x{}", cable);
        const Link& like = topology.link(end.link.value_or((there.empty() ? back : there).front()));
        end.rate = like.bandwidth;
        end.latency = like.latency;
        if (end.link) wiring.hop_of_[*end.link] = hop;
        wiring.ends_.push_back(std::move(end));
      }
    }
  }
  return wiring;
}

}  // namespace hocket

#include "simulator/interface_network.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr VertexId kNoRouter = 0xffffffffU;

BytesPerSecond fastest(const Topology& topology, std::span<const LinkId> links) {
  BytesPerSecond rate;
  for (const LinkId link : links) rate = std::max(rate, topology.link(link).bandwidth);
  return rate;
}

/// Routers of the ranks that have more links than interfaces.
std::vector<VertexId> add_routers(TopologyBuilder& builder, const Topology& topology, std::uint32_t count) {
  for (const Vertex& v : topology.vertices()) builder.add_vertex(v.name, v.kind, v.coordinates);
  std::vector<VertexId> routers(topology.vertices().size(), kNoRouter);
  for (const VertexId v : topology.ranks()) {
    if (topology.outgoing(v).size() <= count && topology.incoming(v).size() <= count) continue;
    routers[v] = builder.add_vertex(fmt::format("router of {}", topology.vertices()[v].name), VertexKind::kSwitch);
  }
  return routers;
}

}  // namespace

Result<InterfaceNetwork> InterfaceNetwork::make(const Topology& topology, std::uint32_t count) {
  if (count == 0) return fail(Code::kInvalidArgument, "a rank without network interfaces reaches no link");
  TopologyBuilder builder(topology.name(), topology.family());
  builder.set_ranks({topology.ranks().begin(), topology.ranks().end()});
  const std::vector<VertexId> routers = add_routers(builder, topology, count);
  const auto end_of = [&](VertexId v) { return routers[v] == kNoRouter ? v : routers[v]; };
  auto links = static_cast<LinkId>(topology.links().size());
  for (const Link& link : topology.links()) {
    builder.add_link(end_of(link.from), end_of(link.to), link.bandwidth, link.latency);
  }
  std::vector<LinkId> out(links, kNoLink);
  std::vector<LinkId> in(links, kNoLink);
  for (const VertexId v : topology.ranks()) {
    if (routers[v] == kNoRouter) continue;
    const auto outgoing = topology.outgoing(v);
    const auto incoming = topology.incoming(v);
    for (std::size_t i = 0; i < outgoing.size(); ++i) out[outgoing[i]] = links + 2 * static_cast<LinkId>(i % count);
    for (std::size_t i = 0; i < incoming.size(); ++i) in[incoming[i]] = links + 2 * static_cast<LinkId>(i % count) + 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      builder.add_link(v, routers[v], fastest(topology, outgoing), Seconds{0});
      builder.add_link(routers[v], v, fastest(topology, incoming), Seconds{0});
    }
    links += 2 * count;
  }
  HOCKET_TRY_ASSIGN(Topology longer, std::move(builder).build());
  InterfaceNetwork network(std::move(longer));
  network.out_ = std::move(out);
  network.in_ = std::move(in);
  return network;
}

std::vector<LinkId> InterfaceNetwork::behind(std::span<const LinkId> route) const {
  std::vector<LinkId> longer;
  if (route.empty()) return longer;
  longer.reserve(route.size() + 2);
  if (out_[route.front()] != kNoLink) longer.push_back(out_[route.front()]);
  longer.insert(longer.end(), route.begin(), route.end());
  if (in_[route.back()] != kNoLink) longer.push_back(in_[route.back()]);
  return longer;
}

}  // namespace hocket

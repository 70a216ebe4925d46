#include "simulator/group_network.h"

#include <algorithm>
#include <numeric>

namespace hocket {
namespace {

constexpr VertexId kLeftOut = UINT32_MAX;

/// The extents of the dimensions that the members fill, others being fixed; empty where they do no such thing.
std::vector<std::uint32_t> filled_extents(const Topology& whole, std::span<const std::uint32_t> members) {
  std::vector<std::uint32_t> filled;
  std::vector<std::uint32_t> strides;
  std::uint64_t stride = 1;
  for (const std::uint32_t extent : whole.extents()) {
    const auto step = static_cast<std::uint32_t>(stride);
    const auto coordinate = [&](std::uint32_t rank) { return rank / step % extent; };
    const bool moves = std::any_of(members.begin(), members.end(),
                                   [&](std::uint32_t m) { return coordinate(m) != coordinate(members[0]); });
    if (moves) {
      filled.push_back(extent);
      strides.push_back(step);
    }
    stride *= extent;
  }
  const std::uint64_t cells = std::accumulate(filled.begin(), filled.end(), std::uint64_t{1}, std::multiplies<>());
  if (stride != whole.rank_count() || cells != members.size()) return {};
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    std::uint32_t expected = members[0];
    std::uint32_t left = i;
    for (std::size_t d = 0; d < filled.size(); ++d) {
      expected += left % filled[d] * strides[d];
      left /= filled[d];
    }
    if (members[i] != expected) return {};
  }
  return filled;
}

/// Members first, in their order, then all that is no npu.
Result<GroupNetwork> without_others(const Topology& whole, std::span<const std::uint32_t> members) {
  TopologyBuilder builder(whole.name(), whole.family());
  std::vector<VertexId> place(whole.vertices().size(), kLeftOut);
  for (const std::uint32_t m : members) {
    const Vertex& v = whole.vertices()[whole.vertex_of(m)];
    place[whole.vertex_of(m)] = builder.add_vertex(v.name, v.kind);
  }
  for (VertexId id = 0; id < whole.vertices().size(); ++id) {
    const Vertex& v = whole.vertices()[id];
    if (v.kind != VertexKind::kNpu) place[id] = builder.add_vertex(v.name, v.kind);
  }
  std::vector<LinkId> links;
  for (LinkId id = 0; id < whole.links().size(); ++id) {
    const Link& l = whole.link(id);
    if (place[l.from] == kLeftOut || place[l.to] == kLeftOut) continue;
    builder.add_link(place[l.from], place[l.to], l.bandwidth, l.latency);
    links.push_back(id);
  }
  std::vector<VertexId> ranks(members.size());
  std::iota(ranks.begin(), ranks.end(), VertexId{0});
  builder.set_ranks(std::move(ranks));
  builder.set_extents(filled_extents(whole, members));
  HOCKET_TRY_ASSIGN(Topology topology, std::move(builder).build());
  return GroupNetwork{std::move(topology), std::move(links)};
}

bool keeps_distances(const Topology& whole, std::span<const std::uint32_t> members, Router& router,
                     const Topology& part) {
  Router inside(part);
  for (std::uint32_t to = 0; to < members.size(); ++to) {
    for (std::uint32_t from = 0; from < members.size(); ++from) {
      const std::uint32_t far = router.hop_distance(whole.vertex_of(members[from]), whole.vertex_of(members[to]));
      if (inside.hop_distance(from, to) != far) return false;
    }
  }
  return true;
}

}  // namespace

Result<GroupNetwork> group_network(const Topology& whole, std::span<const std::uint32_t> members, Router& router) {
  std::vector<LinkId> all(whole.links().size());
  std::iota(all.begin(), all.end(), LinkId{0});
  if (members.size() == whole.rank_count()) return GroupNetwork{whole, std::move(all)};
  auto part = without_others(whole, members);
  if (part && (is_star(whole) || keeps_distances(whole, members, router, part->topology))) return part;
  std::vector<VertexId> vertices;
  vertices.reserve(members.size());
  for (const std::uint32_t m : members) vertices.push_back(whole.vertex_of(m));
  HOCKET_TRY_ASSIGN(Topology topology, with_ranks(whole, vertices));
  return GroupNetwork{std::move(topology), std::move(all)};
}

bool is_star(const Topology& topology) {
  const auto of = [&](std::uint32_t rank) { return topology.vertex_of(rank); };
  const VertexId centre = topology.outgoing(of(0)).empty() ? of(0) : topology.link(topology.outgoing(of(0))[0]).to;
  if (topology.vertices()[centre].kind != VertexKind::kSwitch) return false;
  for (std::uint32_t rank = 0; rank < topology.rank_count(); ++rank) {
    const auto out = topology.outgoing(of(rank));
    const auto in = topology.incoming(of(rank));
    if (out.size() != 1 || in.size() != 1) return false;
    const Link& up = topology.link(out[0]);
    const Link& down = topology.link(in[0]);
    const Link& first = topology.link(topology.outgoing(of(0))[0]);
    const Link& last = topology.link(topology.incoming(of(0))[0]);
    if (up.to != centre || down.from != centre) return false;
    if (up.bandwidth != first.bandwidth || up.latency != first.latency) return false;
    if (down.bandwidth != last.bandwidth || down.latency != last.latency) return false;
  }
  return true;
}

}  // namespace hocket

#include "topology/topology.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "base/assert.h"

namespace hocket {
namespace {

void index_links(std::span<const Link> links, std::size_t vertex_count, VertexId Link::*end,
                 std::vector<std::uint32_t>& begin, std::vector<LinkId>& ids) {
  begin.assign(vertex_count + 1, 0);
  for (const Link& link : links) ++begin[link.*end + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  ids.resize(links.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (LinkId id = 0; id < links.size(); ++id) ids[next[links[id].*end]++] = id;
}

bool has_equal_directions(std::span<const Link> links) {
  std::map<std::pair<VertexId, VertexId>, double> capacity;
  for (const Link& link : links) capacity[{link.from, link.to}] += link.bandwidth.value;
  return std::all_of(capacity.begin(), capacity.end(), [&](const auto& entry) {
    const auto twin = capacity.find({entry.first.second, entry.first.first});
    return twin != capacity.end() && std::fabs(twin->second - entry.second) <= 1e-9 * entry.second;
  });
}

std::vector<bool> reachable(const Topology& topology, VertexId start, bool forward) {
  std::vector<bool> seen(topology.vertices().size(), false);
  std::vector<VertexId> stack{start};
  seen[start] = true;
  while (!stack.empty()) {
    const VertexId v = stack.back();
    stack.pop_back();
    for (const LinkId id : forward ? topology.outgoing(v) : topology.incoming(v)) {
      const VertexId next = forward ? topology.link(id).to : topology.link(id).from;
      if (!seen[next]) {
        seen[next] = true;
        stack.push_back(next);
      }
    }
  }
  return seen;
}

std::string list_islands(const Topology& topology, const std::vector<std::vector<std::uint32_t>>& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < 8; ++i) {
    text += fmt::format("{}{{", i == 0 ? "" : ", ");
    for (std::size_t j = 0; j < groups[i].size() && j < 8; ++j) {
      text += fmt::format("{}{}", j == 0 ? "" : " ", topology.vertices()[topology.vertex_of(groups[i][j])].name);
    }
    text += fmt::format("{}}}", groups[i].size() > 8 ? " ..." : "");
  }
  return text + (groups.size() > 8 ? ", ..." : "");
}

Result<void> check_parts(std::span<const Vertex> vertices, std::span<const Link> links,
                         std::span<const VertexId> ranks) {
  if (ranks.empty()) return fail(Code::kInvalidArgument, "topology has no npu that takes part");
  if (links.size() > kLinksMax)
    return fail(Code::kInvalidArgument, "topology has {} links, limit is {}", links.size(), kLinksMax);
  std::vector<bool> taken(vertices.size(), false);
  for (const VertexId v : ranks) {
    if (v >= vertices.size())
      return fail(Code::kInvalidArgument, "rank vertex {} does not exist, topology has {}", v, vertices.size());
    if (taken[v]) return fail(Code::kInvalidArgument, "vertex '{}' is listed twice as a rank", vertices[v].name);
    taken[v] = true;
  }
  for (const Link& link : links) {
    if (link.from >= vertices.size() || link.to >= vertices.size()) {
      return fail(Code::kInvalidArgument, "link {} -> {} names a vertex that does not exist", link.from, link.to);
    }
    if (!std::isfinite(link.bandwidth.value) || link.bandwidth.value < 1 || link.bandwidth.value > 1e18) {
      return fail(Code::kInvalidArgument, "link {} -> {}: bandwidth {} B/s is outside 1 .. 10^18",
                  vertices[link.from].name, vertices[link.to].name, link.bandwidth.value);
    }
    if (!std::isfinite(link.latency.value) || link.latency.value < 0 || link.latency.value > 1e6) {
      return fail(Code::kInvalidArgument, "link {} -> {}: latency {} s is outside 0 .. 10^6", vertices[link.from].name,
                  vertices[link.to].name, link.latency.value);
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::kNpu:
      return "npu";
    case VertexKind::kSwitch:
      return "switch";
    case VertexKind::kHost:
      return "host";
    case VertexKind::kNic:
      return "nic";
  }
  return "?";
}

Fingerprint Topology::fingerprint() const {
  Hasher hasher;
  hasher.add(vertices_.size()).add(links_.size()).add(ranks_.size());
  for (const Vertex& v : vertices_) hasher.add(static_cast<std::uint64_t>(v.kind));
  for (const Link& l : links_) {
    hasher.add(l.from).add(l.to).add(std::bit_cast<std::uint64_t>(l.bandwidth.value + 0.0));
    hasher.add(std::bit_cast<std::uint64_t>(l.latency.value + 0.0));
  }
  for (const VertexId v : ranks_) hasher.add(v);
  return hasher.finish();
}

std::string Topology::describe_link(LinkId id) const {
  const Link& l = links_[id];
  return fmt::format("{} -> {}", vertices_[l.from].name, vertices_[l.to].name);
}

TopologyBuilder::TopologyBuilder(std::string name, std::string family)
    : name_(std::move(name)), family_(std::move(family)) {}

VertexId TopologyBuilder::add_vertex(std::string name, VertexKind kind, std::vector<std::int32_t> coordinates) {
  vertices_.push_back({std::move(name), kind, std::move(coordinates)});
  return static_cast<VertexId>(vertices_.size() - 1);
}

void TopologyBuilder::add_link(VertexId from, VertexId to, BytesPerSecond bandwidth, Seconds latency) {
  if (from == to) {
    std::string note = fmt::format("self link at '{}' ignored", from < vertices_.size() ? vertices_[from].name : "?");
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) add_note(std::move(note));
    return;
  }
  links_.push_back({from, to, bandwidth, latency});
}

void TopologyBuilder::add_cable(VertexId a, VertexId b, BytesPerSecond bandwidth, Seconds latency) {
  add_link(a, b, bandwidth, latency);
  if (a != b) add_link(b, a, bandwidth, latency);
}

Result<Topology> TopologyBuilder::build() && {
  Topology t;
  if (ranks_.empty()) {
    for (VertexId v = 0; v < vertices_.size(); ++v) {
      if (vertices_[v].kind == VertexKind::kNpu) ranks_.push_back(v);
    }
  }
  HOCKET_TRY(check_parts(vertices_, links_, ranks_));
  t.name_ = std::move(name_);
  t.family_ = std::move(family_);
  t.vertices_ = std::move(vertices_);
  t.links_ = std::move(links_);
  t.ranks_ = std::move(ranks_);
  t.extents_ = std::move(extents_);
  t.notes_ = std::move(notes_);
  t.rank_of_.assign(t.vertices_.size(), -1);
  for (std::size_t r = 0; r < t.ranks_.size(); ++r) t.rank_of_[t.ranks_[r]] = static_cast<std::int32_t>(r);
  index_links(t.links_, t.vertices_.size(), &Link::from, t.out_begin_, t.out_);
  index_links(t.links_, t.vertices_.size(), &Link::to, t.in_begin_, t.in_);
  t.symmetric_ = has_equal_directions(t.links_);
  t.has_switches_ =
      std::any_of(t.vertices_.begin(), t.vertices_.end(), [](const Vertex& v) { return v.kind != VertexKind::kNpu; });
  if (const auto groups = islands(t); groups.size() > 1) {
    return fail(Code::kInvalidArgument, "topology '{}' falls apart into {} islands: {}", t.name_, groups.size(),
                list_islands(t, groups));
  }
  return t;
}

Result<Topology> with_ranks(const Topology& topology, std::span<const VertexId> ranks) {
  TopologyBuilder builder(topology.name(), topology.family());
  for (const Vertex& v : topology.vertices()) builder.add_vertex(v.name, v.kind, v.coordinates);
  for (const Link& l : topology.links()) builder.add_link(l.from, l.to, l.bandwidth, l.latency);
  for (const std::string& note : topology.notes()) builder.add_note(note);
  builder.set_ranks({ranks.begin(), ranks.end()});
  return std::move(builder).build();
}

Topology with_note(Topology topology, std::string note) {
  topology.notes_.push_back(std::move(note));
  return topology;
}

std::vector<std::vector<std::uint32_t>> islands(const Topology& topology) {
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<bool> placed(topology.rank_count(), false);
  for (std::uint32_t r = 0; r < topology.rank_count(); ++r) {
    if (placed[r]) continue;
    const auto forward = reachable(topology, topology.vertex_of(r), true);
    const auto backward = reachable(topology, topology.vertex_of(r), false);
    std::vector<std::uint32_t> group;
    for (std::uint32_t other = r; other < topology.rank_count(); ++other) {
      const VertexId v = topology.vertex_of(other);
      if (!placed[other] && forward[v] && backward[v]) {
        placed[other] = true;
        group.push_back(other);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace hocket

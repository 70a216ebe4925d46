#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "topology/spec.h"

namespace hocket {
namespace {

/// A topology taken apart, to be changed and built again.
struct Parts {
  std::string name, family;
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  std::vector<VertexId> ranks;
  std::vector<std::uint32_t> extents;
  std::vector<std::string> notes;
  std::map<std::string, VertexId, std::less<>> by_name;
};

Parts take_apart(const Topology& topology) {
  Parts parts{.name = topology.name(),
              .family = topology.family(),
              .vertices = {topology.vertices().begin(), topology.vertices().end()},
              .links = {topology.links().begin(), topology.links().end()},
              .ranks = {topology.ranks().begin(), topology.ranks().end()},
              .extents = {topology.extents().begin(), topology.extents().end()},
              .notes = {topology.notes().begin(), topology.notes().end()},
              .by_name = {}};
  for (VertexId v = 0; v < parts.vertices.size(); ++v) parts.by_name.emplace(parts.vertices[v].name, v);
  return parts;
}

Result<Topology> put_together(Parts parts) {
  TopologyBuilder builder(std::move(parts.name), std::move(parts.family));
  for (Vertex& v : parts.vertices) builder.add_vertex(std::move(v.name), v.kind, std::move(v.coordinates));
  for (const Link& link : parts.links) builder.add_link(link.from, link.to, link.bandwidth, link.latency);
  for (std::string& note : parts.notes) builder.add_note(std::move(note));
  builder.set_ranks(std::move(parts.ranks));
  builder.set_extents(std::move(parts.extents));
  return std::move(builder).build();
}

struct Ends {
  VertexId a, b;
  [[nodiscard]] bool are_of(const Link& link) const {
    return (link.from == a && link.to == b) || (link.from == b && link.to == a);
  }
};

/// Names may hold '-': every place to split is tried, the first that names two vertices counts.
Result<Ends> parse_ends(const Parts& parts, std::string_view text, std::string_view option) {
  for (std::size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
    const auto a = parts.by_name.find(text.substr(0, dash));
    const auto b = parts.by_name.find(text.substr(dash + 1));
    if (a != parts.by_name.end() && b != parts.by_name.end()) return Ends{a->second, b->second};
  }
  return fail(Code::kInvalidArgument, "{} '{}': wanted A-B with the names of two vertices of '{}' (such as '{}'){}",
              option, text, parts.name, parts.vertices.front().name,
              option == "--break" ? ", or one of them" : std::string());
}

/// A vertex fails: it goes with its links; ranks above it move down by one.
void remove_vertex(Parts& parts, VertexId lost) {
  const auto of_lost = [&](const Link& link) { return link.from == lost || link.to == lost; };
  const auto removed = std::erase_if(parts.links, of_lost);
  const auto moved = [&](VertexId v) { return v > lost ? v - 1 : v; };
  for (Link& link : parts.links) link = {moved(link.from), moved(link.to), link.bandwidth, link.latency};
  const Vertex vertex = parts.vertices[lost];
  const auto rank = std::find(parts.ranks.begin(), parts.ranks.end(), lost) - parts.ranks.begin();
  parts.vertices.erase(parts.vertices.begin() + static_cast<std::ptrdiff_t>(lost));
  std::erase(parts.ranks, lost);
  for (VertexId& v : parts.ranks) v = moved(v);
  parts.extents.clear();
  parts.by_name.clear();
  for (VertexId v = 0; v < parts.vertices.size(); ++v) parts.by_name.emplace(parts.vertices[v].name, v);
  std::string note = fmt::format("--break {}: {} and {} links removed", vertex.name, name_of(vertex.kind), removed);
  const auto ranks = static_cast<std::ptrdiff_t>(parts.ranks.size());
  if (rank < ranks) note += fmt::format("; ranks {} to {} are now {} to {}", rank + 1, ranks, rank, ranks - 1);
  parts.notes.push_back(std::move(note));
}

Result<void> apply_break(Parts& parts, const std::string& text) {
  const auto vertex = parts.by_name.find(text);
  if (vertex != parts.by_name.end() && parts.vertices.size() > 1 && !parse_ends(parts, text, "--break")) {
    parts.name += fmt::format(" --break {}", text);
    remove_vertex(parts, vertex->second);
    if (!parts.ranks.empty()) return {};
    return fail(Code::kInvalidArgument, "--break '{}': no rank is left", text);
  }
  HOCKET_TRY_ASSIGN(const Ends ends, parse_ends(parts, text, "--break"));
  const auto removed = std::erase_if(parts.links, [&](const Link& link) { return ends.are_of(link); });
  if (removed == 0) return fail(Code::kInvalidArgument, "--break '{}': no cable joins these two", text);
  parts.notes.push_back(fmt::format("--break {}: {} links removed", text, removed));
  parts.name += fmt::format(" --break {}", text);
  return {};
}

Result<void> apply_scale(Parts& parts, const std::string& text) {
  const std::size_t equals = std::min(text.rfind('='), text.size());
  HOCKET_TRY_ASSIGN(const Ends ends, parse_ends(parts, std::string_view(text).substr(0, equals), "--scale"));
  double factor = 0;
  const char* const begin = text.data() + std::min(equals + 1, text.size());
  const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), factor);
  if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(factor) || factor <= 0) {
    return fail(Code::kInvalidArgument, "--scale '{}': wanted A-B=F with a finite factor above zero", text);
  }
  std::size_t changed = 0;
  for (Link& link : parts.links) {
    if (!ends.are_of(link)) continue;
    link.bandwidth.value *= factor;
    ++changed;
  }
  if (changed == 0) return fail(Code::kInvalidArgument, "--scale '{}': no cable joins these two", text);
  parts.notes.push_back(fmt::format("--scale {}: {} links changed", text, changed));
  parts.name += fmt::format(" --scale {}", text);
  return {};
}

std::optional<std::uint32_t> rank_number(std::string_view word) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
  return value;
}

/// One word of --group: a vertex name, a rank number or a range of rank numbers.
Result<void> add_members(const Parts& parts, std::string_view word, std::vector<VertexId>& members) {
  if (const auto named = parts.by_name.find(word); named != parts.by_name.end()) {
    if (parts.vertices[named->second].kind != VertexKind::kNpu) {
      return fail(Code::kInvalidArgument, "--group: '{}' is a {}, not an npu", word,
                  name_of(parts.vertices[named->second].kind));
    }
    members.push_back(named->second);
    return {};
  }
  const std::size_t dash = std::min(word.find('-'), word.size());
  const auto first = rank_number(word.substr(0, dash));
  const auto last = dash == word.size() ? first : rank_number(word.substr(dash + 1));
  if (!first || !last || *first > *last) {
    return fail(Code::kInvalidArgument, "--group: '{}' is no vertex name, rank number or range such as 4-7", word);
  }
  if (*last >= parts.ranks.size()) {
    return fail(Code::kInvalidArgument, "--group: rank {} does not exist, topology has {}", *last, parts.ranks.size());
  }
  for (std::uint32_t r = *first; r <= *last; ++r) members.push_back(parts.ranks[r]);
  return {};
}

Result<void> apply_group(Parts& parts, std::string_view text) {
  std::vector<VertexId> members;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    HOCKET_TRY(add_members(parts, text.substr(begin, end - begin), members));
    if (members.size() > parts.vertices.size())
      return fail(Code::kInvalidArgument, "--group '{}' names npus twice", text);
    begin = end + 1;
  }
  parts.ranks = std::move(members);
  parts.extents.clear();
  parts.notes.push_back(fmt::format("--group {}: {} npus take part", text, parts.ranks.size()));
  parts.name += fmt::format(" --group {}", text);
  return {};
}

void keep_direct_links(Parts& parts) {
  std::vector<VertexId> moved(parts.vertices.size(), 0);
  std::vector<Vertex> kept;
  const auto is_direct = [&](VertexId v) {
    return parts.vertices[v].kind == VertexKind::kNpu || parts.vertices[v].kind == VertexKind::kSwitch;
  };
  std::erase_if(parts.links, [&](const Link& link) { return !is_direct(link.from) || !is_direct(link.to); });
  for (VertexId v = 0; v < parts.vertices.size(); ++v) {
    moved[v] = static_cast<VertexId>(kept.size());
    if (is_direct(v)) kept.push_back(parts.vertices[v]);
  }
  for (Link& link : parts.links) link = {moved[link.from], moved[link.to], link.bandwidth, link.latency};
  for (VertexId& v : parts.ranks) v = moved[v];
  parts.notes.push_back(fmt::format("GPU links only: {} hosts and nics left out", parts.vertices.size() - kept.size()));
  parts.vertices = std::move(kept);
  parts.name += " (GPU links only)";
  parts.by_name.clear();
  for (VertexId v = 0; v < parts.vertices.size(); ++v) parts.by_name.emplace(parts.vertices[v].name, v);
}

}  // namespace

Result<Topology> apply_changes(Topology topology, const TopologyOptions& options) {
  if (!options.direct_only && options.breaks.empty() && options.scales.empty() && options.group.empty())
    return topology;
  Parts parts = take_apart(topology);
  if (options.direct_only) keep_direct_links(parts);
  for (const std::string& text : options.breaks) HOCKET_TRY(apply_break(parts, text));
  for (const std::string& text : options.scales) HOCKET_TRY(apply_scale(parts, text));
  if (!options.group.empty()) HOCKET_TRY(apply_group(parts, options.group));
  return put_together(std::move(parts));
}

Result<Topology> with_bandwidth_share(const Topology& topology, double share) {
  Parts parts = take_apart(topology);
  for (Link& link : parts.links) link.bandwidth.value *= share;
  return put_together(std::move(parts));
}

}  // namespace hocket

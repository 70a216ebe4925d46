// hocket's own YAML: everything a Topology holds, readable by people and by this file.
//   hocket: topology
//   name: "torus:4x4"          family: "torus"          extents: [4, 4]
//   vertices:
//     - {name: "0", kind: npu, at: [0, 0]}
//   ranks: ["0", "3"]          only when not every npu in order takes part
//   links:
//     - {from: "0", to: "1", bandwidth: 16GB/s, latency: 150ns, count: 2, duplex: full}
// Rates carry their units; `duplex: simplex` means from -> to only; count and duplex may be absent (1, full).
#include <algorithm>
#include <map>
#include <optional>

#include "exchange/csv.h"
#include "exchange/nccl_log.h"
#include "exchange/platform_yaml.h"
#include "exchange/topology_format.h"
#include "exchange/yaml_text.h"

namespace hocket {
namespace {

constexpr std::size_t kVerticesMax = std::size_t{1} << 20;

class YamlReader {
 public:
  YamlReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<ReadTopology> read() {
    if (text_.size() > kTopologyTextMax) {
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kTopologyTextMax);
    }
    HOCKET_TRY_ASSIGN(const YAML::Node root, parse_yaml_map(text_, file_name_));
    TopologyBuilder builder{scalar(root["name"], file_name_), scalar(root["family"], "file")};
    HOCKET_TRY(read_vertices(root, builder));
    HOCKET_TRY(read_ranks(root, builder));
    HOCKET_TRY(read_extents(root, builder));
    HOCKET_TRY(read_links(root, builder));
    for (const auto& entry : root) {
      const std::string key = entry.first.Scalar();
      constexpr std::string_view kKnown = " hocket name family extents vertices ranks links notes ";
      if (kKnown.find(fmt::format(" {} ", key)) != std::string_view::npos) continue;
      losses_.ignored(yaml_place(entry.first, "line"), fmt::format("key '{}'", key.substr(0, 80)), "unknown");
    }
    if (const YAML::Node notes = root["notes"]; notes && notes.IsSequence()) {
      for (const YAML::Node& note : notes) builder.add_note(scalar(note, ""));
    }
    return build_with_losses(std::move(builder), std::move(losses_));
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(const YAML::Node& node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}: {}", yaml_place(node, file_name_),
                fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string scalar(const YAML::Node& node, std::string_view otherwise) {
    return node && node.IsScalar() ? node.Scalar() : std::string(otherwise);
  }

  Result<YAML::Node> list(const YAML::Node& root, std::string_view key) const {
    const YAML::Node value = root[std::string(key)];
    if (!value || !value.IsSequence()) return fail(Code::kMalformed, "{}: no list '{}'", file_name_, key);
    return value;
  }

  Result<void> read_vertices(const YAML::Node& root, TopologyBuilder& builder) {
    HOCKET_TRY_ASSIGN(const YAML::Node vertices, list(root, "vertices"));
    if (vertices.size() > kVerticesMax) return error_at(vertices, "more than {} vertices", kVerticesMax);
    for (const YAML::Node& entry : vertices) {
      if (!entry.IsMap()) return error_at(entry, "a vertex is not {{name: ..., kind: ...}}");
      const std::string name = scalar(entry["name"], "");
      if (name.empty()) return error_at(entry, "a vertex has no name");
      const std::string word = scalar(entry["kind"], "npu");
      std::optional<VertexKind> kind;
      for (const VertexKind known : {VertexKind::kNpu, VertexKind::kSwitch, VertexKind::kHost, VertexKind::kNic}) {
        if (name_of(known) == word) kind = known;
      }
      if (!kind) return error_at(entry, "unknown kind '{}', known: npu switch host nic", word.substr(0, 80));
      std::vector<std::int32_t> at;
      if (const YAML::Node coordinates = entry["at"]; coordinates && coordinates.IsSequence()) {
        for (const YAML::Node& c : coordinates) at.push_back(c.as<std::int32_t>());
      }
      const VertexId id = builder.add_vertex(name, *kind, std::move(at));
      if (!by_name_.emplace(name, id).second) return error_at(entry, "vertex '{}' stands twice", name.substr(0, 80));
    }
    return {};
  }

  Result<VertexId> vertex(const YAML::Node& node, const YAML::Node& place) const {
    const auto found = by_name_.find(scalar(node, ""));
    if (found == by_name_.end()) return error_at(place, "no vertex is called '{}'", scalar(node, "").substr(0, 80));
    return found->second;
  }

  Result<void> read_ranks(const YAML::Node& root, TopologyBuilder& builder) const {
    if (!root["ranks"]) return {};
    HOCKET_TRY_ASSIGN(const YAML::Node entries, list(root, "ranks"));
    std::vector<VertexId> ranks;
    for (const YAML::Node& entry : entries) {
      HOCKET_TRY_ASSIGN(const VertexId v, vertex(entry, entry));
      if (builder.vertices()[v].kind != VertexKind::kNpu) {
        return error_at(entry, "rank '{}' is not an npu", entry.Scalar().substr(0, 80));
      }
      ranks.push_back(v);
    }
    if (ranks.empty()) return error_at(entries, "'ranks' is empty");
    builder.set_ranks(std::move(ranks));
    ranked_ = entries.size();
    return {};
  }

  Result<void> read_extents(const YAML::Node& root, TopologyBuilder& builder) const {
    if (!root["extents"]) return {};
    HOCKET_TRY_ASSIGN(const YAML::Node entries, list(root, "extents"));
    std::vector<std::uint32_t> extents;
    std::uint64_t product = 1;
    for (const YAML::Node& entry : entries) {
      extents.push_back(entry.as<std::uint32_t>());
      product = std::min<std::uint64_t>(product * extents.back(), kLinksMax);
    }
    std::uint64_t npus = ranked_;
    for (const Vertex& v : builder.vertices()) npus += ranked_ == 0 && v.kind == VertexKind::kNpu ? 1 : 0;
    if (!extents.empty() && product != npus) {
      return error_at(entries, "the extents multiply to {}, but {} npus take part", product, npus);
    }
    builder.set_extents(std::move(extents));
    return {};
  }

  Result<void> read_links(const YAML::Node& root, TopologyBuilder& builder) {
    if (!root["links"]) return {};
    HOCKET_TRY_ASSIGN(const YAML::Node entries, list(root, "links"));
    std::uint64_t links = 0;
    for (const YAML::Node& entry : entries) {
      if (!entry.IsMap()) return error_at(entry, "a link is not {{from: ..., to: ..., bandwidth: ..., latency: ...}}");
      HOCKET_TRY_ASSIGN(const VertexId from, vertex(entry["from"], entry));
      HOCKET_TRY_ASSIGN(const VertexId to, vertex(entry["to"], entry));
      const auto rate = parse_bandwidth(scalar(entry["bandwidth"], ""));
      if (!rate) return error_at(entry, "{}", rate.error().text);
      const auto delay = parse_seconds(scalar(entry["latency"], ""));
      if (!delay) return error_at(entry, "{}", delay.error().text);
      const auto count = whole_number(scalar(entry["count"], "1"));
      if (!count || *count == 0 || *count > kLinksMax) {
        return error_at(entry, "count '{}' is not 1 to {}", scalar(entry["count"], "").substr(0, 80), kLinksMax);
      }
      const std::string duplex = scalar(entry["duplex"], "full");
      if (duplex != "full" && duplex != "simplex") {
        return error_at(entry, "duplex '{}' is neither full nor simplex", duplex.substr(0, 80));
      }
      if (from == to) losses_.repaired(yaml_place(entry, "line"), "link of a vertex to itself", "left out");
      if (from == to) continue;
      links += *count * 2;
      if (links > kLinksMax) return error_at(entry, "more than {} links", kLinksMax);
      for (std::uint64_t n = 0; n < *count; ++n) {
        builder.add_link(from, to, *rate, *delay);
        if (duplex == "full") builder.add_link(to, from, *rate, *delay);
      }
    }
    return {};
  }

  std::string_view text_, file_name_;
  std::map<std::string, VertexId, std::less<>> by_name_;
  mutable std::size_t ranked_ = 0;
  LossReport losses_;
};

bool recognise(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return has_yaml_key(head, "hocket") && head.find("topology") != std::string_view::npos &&
         !looks_like_platform(head) && !looks_like_nccl_log(text);
}

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  return guard_yaml(file_name, [&] { return YamlReader(text, file_name).read(); });
}

bool same_link(const Link& a, const Link& b) {
  return a.from == b.from && a.to == b.to && a.bandwidth == b.bandwidth && a.latency == b.latency;
}

bool is_cable(std::span<const Link> links, std::size_t i) {
  return i + 1 < links.size() &&
         same_link(links[i + 1], {links[i].to, links[i].from, links[i].bandwidth, links[i].latency});
}

std::string links_text(const Topology& t, const std::vector<std::string>& names) {
  std::string out = "links:\n";
  const std::span<const Link> links = t.links();
  for (std::size_t i = 0; i < links.size();) {
    const bool full = is_cable(links, i);
    const std::size_t width = full ? 2 : 1;
    std::size_t count = 1;
    while (i + count * width < links.size() && is_cable(links, i + count * width) == full &&
           same_link(links[i], links[i + count * width])) {
      ++count;
    }
    out += fmt::format("  - {{from: {}, to: {}, bandwidth: {}, latency: {}, count: {}, duplex: {}}}\n",
                       names[links[i].from], names[links[i].to], exact_bandwidth(links[i].bandwidth),
                       exact_seconds(links[i].latency), count, full ? "full" : "simplex");
    i += count * width;
  }
  return links.empty() ? "links: []\n" : out;
}

Result<std::string> write(const Topology& t) {
  std::vector<std::string> names;
  std::map<std::string_view, VertexId> seen;
  std::vector<VertexId> usual;
  for (VertexId v = 0; v < t.vertices().size(); ++v) {
    const Vertex& vertex = t.vertices()[v];
    if (vertex.name.empty()) return fail(Code::kUnsupported, "vertex {} has no name", v);
    HOCKET_TRY_ASSIGN(std::string name, yaml_quoted(vertex.name));
    if (!seen.emplace(vertex.name, v).second) return fail(Code::kUnsupported, "two vertices are called {}", name);
    names.push_back(std::move(name));
    if (vertex.kind == VertexKind::kNpu) usual.push_back(v);
  }
  std::string out = "hocket: topology\n";
  if (const auto name = yaml_quoted(t.name())) out += fmt::format("name: {}\n", *name);
  if (const auto family = yaml_quoted(t.family())) out += fmt::format("family: {}\n", *family);
  if (!t.extents().empty()) out += fmt::format("extents: [{}]\n", fmt::join(t.extents(), ", "));
  std::string notes;
  for (const std::string& note : t.notes()) {
    if (const auto text = yaml_quoted(note)) notes += fmt::format("  - {}\n", *text);
  }
  if (!notes.empty()) out += "notes:\n" + notes;
  out += "vertices:\n";
  for (VertexId v = 0; v < names.size(); ++v) {
    const Vertex& vertex = t.vertices()[v];
    out += fmt::format("  - {{name: {}, kind: {}", names[v], name_of(vertex.kind));
    if (!vertex.coordinates.empty()) out += fmt::format(", at: [{}]", fmt::join(vertex.coordinates, ", "));
    out += "}\n";
  }
  if (!std::equal(usual.begin(), usual.end(), t.ranks().begin(), t.ranks().end())) {
    std::vector<std::string> ranks;
    for (const VertexId v : t.ranks()) ranks.push_back(names[v]);
    out += fmt::format("ranks: [{}]\n", fmt::join(ranks, ", "));
  }
  return out + links_text(t, names);
}

}  // namespace

extern const TopologyFormat topology_format_hocket_yaml{
    .name = "hocket-yaml",
    .extensions = ".yaml .yml",
    .description = "hocket's own topology YAML: vertices, coordinates, links with units",
    .recognise = recognise,
    .read = read,
    .write = write,
    .describe = nullptr,
};

}  // namespace hocket

// Graphviz DOT, written only: one line per cable with its rate; `dot -Tsvg`, or `neato -n` to keep the places given.
#include "exchange/topology_format.h"
#include "exchange/topology_layout.h"

namespace hocket {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string_view shape_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::kNpu:
      return "box";
    case VertexKind::kSwitch:
      return "diamond";
    case VertexKind::kHost:
      return "ellipse";
    case VertexKind::kNic:
      return "hexagon";
  }
  return "box";
}

Result<std::string> write(const Topology& t) {
  constexpr double kPointsApart = 72;
  const std::vector<DrawnPlace> places = layout_of(t);
  std::string out = fmt::format("digraph {} {{\n", in_quotes(t.name()));
  out += "  edge [dir=none, fontsize=9];\n  node [fontsize=10];\n";
  for (VertexId v = 0; v < places.size(); ++v) {
    const Vertex& vertex = t.vertices()[v];
    std::string label = in_quotes(vertex.name);
    if (t.rank_of(v) >= 0) label.insert(label.size() - 1, fmt::format("\\nrank {}", t.rank_of(v)));
    out += fmt::format("  v{} [label={}, shape={}, pos=\"{:.0f},{:.0f}\"];\n", v, label, shape_of(vertex.kind),
                       places[v].x * kPointsApart, -places[v].y * kPointsApart);
  }
  for (const DrawnCable& cable : cables_of(t)) {
    const std::string_view direction = cable.backward == 0 ? ", dir=forward" : cable.forward == 0 ? ", dir=back" : "";
    out += fmt::format("  v{} -> v{} [label={}{}];\n", cable.a, cable.b, in_quotes(label_of(cable)), direction);
  }
  return out + "}\n";
}

}  // namespace

extern const TopologyFormat topology_format_dot{
    .name = "dot",
    .extensions = ".dot .gv",
    .description = "Graphviz DOT drawing (written only)",
    .recognise = nullptr,
    .read = nullptr,
    .write = write,
    .describe = nullptr,
};

}  // namespace hocket

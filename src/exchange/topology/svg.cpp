// SVG drawing, written only: boxes for npus, diamonds for switches, ellipses for hosts and nics; thicker lines for more
// bandwidth; every line has its rate as a title. One file, no script, no network; follows light and dark.
#include <algorithm>
#include <cmath>

#include "exchange/topology_format.h"
#include "exchange/topology_layout.h"

namespace hocket {
namespace {

constexpr std::size_t kVerticesMax = 4096;
constexpr std::size_t kCablesMax = 65'536;
constexpr double kApart = 112, kMargin = 62;

constexpr std::string_view kStyle = R"(<style>
  svg { background: #fff; font: 11px sans-serif; }
  .cable { fill: none; stroke: #68788c; stroke-linecap: round; }
  .npu { fill: #d7e8fb; stroke: #1f5fa8; } .switch { fill: #fde9c8; stroke: #a86a00; }
  .host { fill: #e6e6e6; stroke: #555; } .nic { fill: #dff3df; stroke: #2c7a2c; }
  text { fill: #111; text-anchor: middle; dominant-baseline: central; }
  @media (prefers-color-scheme: dark) {
    svg { background: #15181c; } .cable { stroke: #8a99ab; } text { fill: #eee; }
    .npu { fill: #1c3a5c; } .switch { fill: #57400f; } .host { fill: #3a3a3a; } .nic { fill: #1d4a1d; }
  }
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string shape_of(const Vertex& vertex, DrawnPlace at) {
  const std::string_view kind = name_of(vertex.kind);
  const double half = std::clamp(3.3 * static_cast<double>(vertex.name.size()) + 6, 24.0, 54.0);
  if (vertex.kind == VertexKind::kNpu) {
    return fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="24" rx="4"/>)", kind,
                       at.x - half, at.y - 12, 2 * half);
  }
  if (vertex.kind == VertexKind::kSwitch) {
    return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}l30 16l-30 16l-30 -16z"/>)", kind, at.x, at.y - 16);
  }
  return fmt::format(R"(<ellipse class="{}" cx="{:.1f}" cy="{:.1f}" rx="{:.1f}" ry="13"/>)", kind, at.x, at.y, half);
}

/// Straight, or bent where a straight line along a row or column would run over the vertices between.
std::string line_of(DrawnPlace from, DrawnPlace to) {
  const double width = to.x - from.x, height = to.y - from.y, length = std::hypot(width, height);
  const bool runs_over = length > 1.5 * kApart && (std::abs(width) < 1 || std::abs(height) < 1);
  if (!runs_over) return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.x, from.y, to.x, to.y);
  const double bend = 0.5 * kApart / length;
  return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", from.x, from.y, from.x + width / 2 - height * bend,
                     from.y + height / 2 + width * bend, to.x, to.y);
}

std::string lines_of(const Topology& t, const std::vector<DrawnCable>& cables, const std::vector<DrawnPlace>& places) {
  double most = 0;
  for (const DrawnCable& c : cables) most = std::max({most, c.rate_forward.value, c.rate_backward.value});
  std::string out;
  for (const DrawnCable& c : cables) {
    const double share = std::max(c.rate_forward.value, c.rate_backward.value) / most;
    const DrawnPlace from = places[c.a], to = places[c.b];
    out += fmt::format(R"(<path class="cable" d="{}" stroke-width="{:.1f}">)", line_of(from, to), 1 + 4 * share);
    out += fmt::format("<title>{} - {}: {}</title></path>\n", escaped(t.vertices()[c.a].name),
                       escaped(t.vertices()[c.b].name), label_of(c));
  }
  return out;
}

Result<std::string> write(const Topology& t) {
  const std::vector<DrawnCable> cables = cables_of(t);
  if (t.vertices().size() > kVerticesMax || cables.size() > kCablesMax) {
    return fail(Code::kUnsupported, "'{}' has {} vertices and {} cables; a drawing holds {} and {}", t.name(),
                t.vertices().size(), cables.size(), kVerticesMax, kCablesMax);
  }
  std::vector<DrawnPlace> places = layout_of(t);
  DrawnPlace least = places.front(), most = places.front();
  for (const DrawnPlace& p : places) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  }
  for (DrawnPlace& p : places) p = {(p.x - least.x) * kApart + kMargin, (p.y - least.y) * kApart + kMargin};
  const double width = (most.x - least.x) * kApart + 2 * kMargin, height = (most.y - least.y) * kApart + 2 * kMargin;
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}">)",
      width, height);
  out += fmt::format("\n<title>{}</title>\n{}", escaped(t.name()), kStyle);
  out += lines_of(t, cables, places);
  for (VertexId v = 0; v < places.size(); ++v) {
    const std::string name = t.vertices()[v].name;
    out += fmt::format("{}<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", shape_of(t.vertices()[v], places[v]),
                       places[v].x, places[v].y, escaped(name));
  }
  return out + "</svg>\n";
}

}  // namespace

extern const TopologyFormat topology_format_svg{
    .name = "svg",
    .extensions = ".svg",
    .description = "SVG drawing (written only)",
    .recognise = nullptr,
    .read = nullptr,
    .write = write,
    .describe = nullptr,
};

}  // namespace hocket

#include "report/drawing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "report/html.h"
#include "report/layout.h"

namespace hocket {
namespace {

constexpr double kRadius = 12;

struct Curve {
  Point a;
  Point middle;
  Point b;
};

/// The point at distance `d` from `from` towards `to`.
Point towards(Point from, Point to, double d) {
  const double length = std::max(1e-9, std::hypot(to.x - from.x, to.y - from.y));
  return {from.x + (to.x - from.x) * d / length, from.y + (to.y - from.y) * d / length};
}

Curve curve_of(Point a, Point b, double bend) {
  const double length = std::max(1.0, std::hypot(b.x - a.x, b.y - a.y));
  const Point middle{(a.x + b.x) / 2 - (b.y - a.y) / length * bend, (a.y + b.y) / 2 + (b.x - a.x) / length * bend};
  return {towards(a, middle, kRadius + 1), middle, towards(b, middle, kRadius + 2)};
}

/// A line with an arrow head of its own, so that one stroke colours both.
std::string path_of(const Curve& c) {
  const Point back = towards(c.b, c.middle, 7);
  const Point side{(back.y - c.b.y) * 0.5, (c.b.x - back.x) * 0.5};
  return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}", c.a.x,
                     c.a.y, c.middle.x, c.middle.y, c.b.x, c.b.y, back.x + side.x, back.y + side.y, c.b.x, c.b.y,
                     back.x - side.x, back.y - side.y);
}

/// Cables that run past other vertices of a grid (wrap-around) take a wide bow.
double bend_of(const Layout& layout, Point a, Point b, int parallel) {
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const bool passes = layout.cell > 0 && length > 1.5 * layout.cell;
  return (passes ? 0.66 * layout.cell : 7.0) + 9.0 * parallel;
}

std::string draw_links(const Topology& t, const SimulationResult& r, const Layout& layout) {
  std::string svg = "<g class=\"links\">";
  std::map<std::pair<VertexId, VertexId>, int> parallel;
  for (LinkId id = 0; id < t.links().size(); ++id) {
    const Link& l = t.link(id);
    const Point a = layout.at[l.from];
    const Point b = layout.at[l.to];
    const Curve curve = curve_of(a, b, bend_of(layout, a, b, parallel[{l.from, l.to}]++));
    fmt::format_to(std::back_inserter(svg),
                   "<path data-link=\"{}\" class=\"load{}\" d=\"{}\"><title>{}</title></path>\n", id, load_class(r, id),
                   path_of(curve), link_in_words(t, r, id));
  }
  return svg + "</g>";
}

std::string shape_of(const Vertex& vertex, Point p) {
  switch (vertex.kind) {
    case VertexKind::kNpu:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", p.x, p.y, kRadius);
    case VertexKind::kSwitch:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"20\" height=\"20\"/>", p.x - 10, p.y - 10);
    case VertexKind::kHost:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l11 11l-11 11l-11 -11z\"/>", p.x, p.y - 11);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l11 19h-22z\"/>", p.x, p.y - 12);
  }
}

/// Npus carry their rank; the rest a letter, as the key below the drawing explains.
std::string label_of(const Topology& t, VertexId v) {
  if (t.rank_of(v) >= 0) return fmt::format("{}", t.rank_of(v));
  switch (t.vertices()[v].kind) {
    case VertexKind::kNpu:
      return "-";
    case VertexKind::kSwitch:
      return "S";
    case VertexKind::kHost:
      return "H";
    default:
      return "N";
  }
}

std::string draw_vertices(const Topology& t, const Layout& layout) {
  std::string svg = "<g class=\"vertices\">";
  for (VertexId v = 0; v < layout.at.size(); ++v) {
    const Vertex& vertex = t.vertices()[v];
    const Point p = layout.at[v];
    const std::string rank = t.rank_of(v) >= 0 ? fmt::format(", rank {}", t.rank_of(v)) : std::string();
    fmt::format_to(std::back_inserter(svg),
                   "<g class=\"{}\" data-vertex=\"{}\"><title>{} {}{}</title>{}<text x=\"{:.1f}\" "
                   "y=\"{:.1f}\">{}</text></g>\n",
                   name_of(vertex.kind), v, name_of(vertex.kind), escape_html(vertex.name), rank, shape_of(vertex, p),
                   p.x, p.y + (vertex.kind == VertexKind::kNic ? 5.5 : 3.6), label_of(t, v));
  }
  return svg + "</g>";
}

}  // namespace

int load_class(const SimulationResult& result, LinkId link) {
  if (result.link_bytes[link] == 0) return 0;
  return 1 + std::clamp(static_cast<int>(result.utilisation(link) * 5), 0, 4);
}

std::string link_in_words(const Topology& t, const SimulationResult& r, LinkId link) {
  const Link& l = t.link(link);
  const std::string rate = fmt::format("{}, {}", format_bandwidth(l.bandwidth), readable_time(l.latency));
  if (r.link_bytes[link] == 0) return fmt::format("{}: carries nothing; {}", link_name(t, link), rate);
  return fmt::format("{}: {:.4g} MB, held {:.0f} % of {}; {}", link_name(t, link),
                     static_cast<double>(r.link_bytes[link]) * 1e-6, 100 * r.utilisation(link),
                     readable_time(to_seconds(r.time)), rate);
}

std::string draw_network(const Topology& t, const SimulationResult& r) {
  if (t.links().size() > kDrawnLinksMax) {
    return fmt::format("<p class=\"note\">{} links are more than this page draws ({}).</p>", t.links().size(),
                       kDrawnLinksMax);
  }
  const Layout layout = lay_out(t);
  const double thin = std::clamp(14 / std::sqrt(static_cast<double>(t.links().size()) + 1), 0.35, 1.0);
  return fmt::format(
      "<svg class=\"network\" viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"--wide:{0:.0f}px;--thin:{4:.2f}\" role=\"img\" "
      "aria-label=\"Drawing of the network; every link is also in the table of links\">{2}{3}</svg>",
      layout.width, layout.height, draw_links(t, r, layout), draw_vertices(t, layout), thin);
}

}  // namespace hocket

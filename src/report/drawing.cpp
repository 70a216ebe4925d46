// The two drawings of the page: a network with link loads, and a timeline with links as rows.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "report/page.h"

namespace hocket {
namespace {

struct Point {
  double x = 0;
  double y = 0;
};

constexpr double kSize = 460;
constexpr std::size_t kRowsMax = 64;
constexpr std::size_t kBarsMax = 6000;

/// Two-dimensional grids lie on their coordinates; everything else on circles: switches inside, npus outside.
std::vector<Point> place_vertices(const Topology& t) {
  std::vector<Point> at(t.vertices().size());
  const auto extents = t.extents();
  const bool grid = extents.size() == 2 && !t.has_switches() && t.vertices().front().coordinates.size() == 2;
  std::size_t outer = 0;
  std::size_t inner = 0;
  for (const Vertex& v : t.vertices()) ++(v.kind == VertexKind::kNpu ? outer : inner);
  std::size_t npu = 0;
  std::size_t other = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Vertex& v = t.vertices()[i];
    if (grid) {
      at[i] = {40 + (kSize - 80) * v.coordinates[0] / std::max(1.0, extents[0] - 1.0),
               40 + (kSize - 80) * v.coordinates[1] / std::max(1.0, extents[1] - 1.0)};
      continue;
    }
    const bool rim = v.kind == VertexKind::kNpu;
    const double turn = 2 * std::numbers::pi * static_cast<double>(rim ? npu++ : other++) /
                        static_cast<double>(std::max<std::size_t>(1, rim ? outer : inner));
    const double radius = rim ? kSize / 2 - 30 : (inner == 1 ? 0 : kSize / 4);
    at[i] = {kSize / 2 + radius * std::sin(turn), kSize / 2 - radius * std::cos(turn)};
  }
  return at;
}

double busy_share(const SimulationResult& r, LinkId link) {
  return r.time.count == 0 ? 0 : static_cast<double>(r.link_busy[link].count) / static_cast<double>(r.time.count);
}

/// Links bend to one side, so that both directions and wrap-around cables stay apart.
std::string link_path(Point a, Point b, double bend) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = std::max(1.0, std::hypot(dx, dy));
  const double away = bend + length * 0.06;
  return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, (a.x + b.x) / 2 - dy / length * away,
                     (a.y + b.y) / 2 + dx / length * away, b.x, b.y);
}

}  // namespace

std::string draw_topology(const Topology& t, const SimulationResult& r) {
  const std::vector<Point> at = place_vertices(t);
  std::string svg = fmt::format(
      "<svg class=\"net\" viewBox=\"0 0 {0} {0}\" role=\"img\" aria-label=\"network with link loads\">", kSize);
  std::map<std::pair<VertexId, VertexId>, int> parallel;
  for (LinkId id = 0; id < t.links().size(); ++id) {
    const Link& l = t.link(id);
    const double share = busy_share(r, id);
    svg += fmt::format(
        "<path d=\"{}\" style=\"stroke-width:{:.1f};--load:{:.0f}%\" class=\"{}\"><title>{}: {} bytes, busy {:.0f} "
        "%</title></path>",
        link_path(at[l.from], at[l.to], 4.0 + 8.0 * parallel[{l.from, l.to}]++), 1.2 + 3 * share, 100 * share,
        r.link_bytes[id] > 0 ? "load" : "idle", escape_html(t.describe_link(id)), r.link_bytes[id], 100 * share);
  }
  for (VertexId v = 0; v < at.size(); ++v) {
    const bool npu = t.vertices()[v].kind == VertexKind::kNpu;
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"/>", at[v].x, at[v].y, npu ? 11 : 7,
                       npu ? "npu" : "switch");
    if (npu)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", at[v].x, at[v].y + 3.5,
                         escape_html(t.vertices()[v].name.substr(0, 5)));
  }
  return svg + "</svg>";
}

std::string draw_timeline(const Topology& t, const SimulationResult& r) {
  std::vector<LinkId> rows;
  for (LinkId id = 0; id < t.links().size() && rows.size() < kRowsMax; ++id) {
    if (r.link_bytes[id] > 0) rows.push_back(id);
  }
  std::vector<std::int32_t> row_of(t.links().size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) row_of[rows[i]] = static_cast<std::int32_t>(i);
  const double row_height = 9;
  const double width = 900;
  const double left = 90;
  const double height = row_height * static_cast<double>(rows.size()) + 18;
  std::string svg = fmt::format(
      "<svg class=\"time\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"timeline, links as rows\">", width, height);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\" class=\"row\">{}</text>", left - 4,
                       row_height * static_cast<double>(i) + 7.5, escape_html(t.describe_link(rows[i]).substr(0, 20)));
  }
  const double scale = (width - left) / static_cast<double>(std::max<std::int64_t>(1, r.time.count));
  std::size_t drawn = 0;
  for (const LinkInterval& bar : r.timeline) {
    if (row_of[bar.link] < 0 || drawn == kBarsMax) continue;
    ++drawn;
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"7\" class=\"c{}\"/>",
                       left + static_cast<double>(bar.begin.count) * scale, row_height * row_of[bar.link] + 1,
                       std::max(0.3, static_cast<double>((bar.end - bar.begin).count) * scale), bar.op % 6);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\">0</text><text x=\"{}\" y=\"{:.0f}\" class=\"row\">{}</text></svg>",
                     left, height - 3, width - 2, height - 3, format_seconds(to_seconds(r.time)));
  const std::uint64_t left_out = r.timeline.size() + r.timeline_dropped - drawn;
  if (left_out > 0) svg += fmt::format("<p class=\"small\">{} of {} bars are drawn.</p>", drawn, drawn + left_out);
  return svg;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace hocket

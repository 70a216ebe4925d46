#include "report/layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hocket {
namespace {

constexpr double kMargin = 50;
constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::size_t kLineMax = 12;  // a longer line is drawn as a circle

bool is_grid(const Topology& t) {
  const std::size_t dimensions = t.extents().size();
  if (dimensions == 0 || t.has_switches()) return false;
  if (dimensions == 1 && (t.family() != "line" || t.vertices().size() > kLineMax)) return false;
  return std::all_of(t.vertices().begin(), t.vertices().end(),
                     [&](const Vertex& v) { return v.coordinates.size() == dimensions; });
}

/// What one step along each dimension moves, in cells.
std::vector<Point> axes_of(std::span<const std::uint32_t> extents) {
  if (extents.size() <= 2) return {{1, 0}, {0, 1}};
  if (extents.size() == 3) return {{1, 0}, {0, 1}, {1.12 / extents[2], 0.88 / extents[2]}};
  std::vector<Point> axes;
  Point step{1, 1};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    axes.push_back(d % 2 == 0 ? Point{step.x, 0} : Point{0, step.y});
    double& side = d % 2 == 0 ? step.x : step.y;
    side *= extents[d] + 0.4;
  }
  return axes;
}

Layout lay_out_grid(const Topology& t) {
  Layout layout;
  const auto extents = t.extents();
  const std::vector<Point> axes = axes_of(extents);
  const std::uint32_t widest = *std::max_element(extents.begin(), extents.end());
  layout.cell = extents.size() > 2 ? 128 : std::clamp(640.0 / widest, 56.0, 112.0);
  for (const Vertex& v : t.vertices()) {
    Point at;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      at.x += axes[d].x * v.coordinates[d] * layout.cell;
      at.y += axes[d].y * v.coordinates[d] * layout.cell;
    }
    layout.at.push_back(at);
  }
  return layout;
}

/// Links between a vertex and the nearest npu; npus are at 0.
std::vector<std::uint32_t> depths(const Topology& t) {
  std::vector<std::uint32_t> depth(t.vertices().size(), UINT32_MAX);
  std::vector<VertexId> queue;
  for (VertexId v = 0; v < depth.size(); ++v) {
    if (t.vertices()[v].kind != VertexKind::kNpu) continue;
    depth[v] = 0;
    queue.push_back(v);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const LinkId id : t.outgoing(queue[i])) {
      const VertexId next = t.link(id).to;
      if (depth[next] != UINT32_MAX) continue;
      depth[next] = depth[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  for (std::uint32_t& d : depth) d = d == UINT32_MAX ? 1 : d;
  return depth;
}

/// Mean direction of the neighbours of a lower depth; -1 when they point everywhere.
double mean_turn(const Topology& t, VertexId v, const std::vector<std::uint32_t>& depth,
                 const std::vector<double>& turn) {
  double x = 0;
  double y = 0;
  for (const LinkId id : t.outgoing(v)) {
    const VertexId next = t.link(id).to;
    if (depth[next] >= depth[v]) continue;
    x += std::cos(turn[next]);
    y += std::sin(turn[next]);
  }
  if (std::hypot(x, y) < 1e-6) return -1;
  const double angle = std::atan2(y, x);
  return angle < 0 ? angle + kTurn : angle;
}

/// Vertices of one circle, in the order of what they serve, moved apart when they would touch.
void spread_circle(std::vector<VertexId>& circle, std::vector<double>& turn, double radius) {
  std::stable_sort(circle.begin(), circle.end(), [&](VertexId a, VertexId b) { return turn[a] < turn[b]; });
  const std::size_t n = circle.size();
  bool crowded = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double next = i + 1 < n ? turn[circle[i + 1]] : turn[circle[0]] + kTurn;
    crowded = crowded || turn[circle[i]] < 0 || (next - turn[circle[i]]) * radius < 30;
  }
  if (!crowded || n == 1) return;
  const double first = std::max(0.0, turn[circle[0]]);
  for (std::size_t i = 0; i < n; ++i) turn[circle[i]] = first + kTurn * static_cast<double>(i) / static_cast<double>(n);
}

/// Npus that are wired to each other leave no room inside: what serves them then goes outside, unless one vertex serves
/// all of them and belongs in the middle.
bool grows_outwards(const Topology& t, const std::vector<std::uint32_t>& depth, const std::vector<double>& turn) {
  const bool wired = std::any_of(t.links().begin(), t.links().end(),
                                 [&](const Link& l) { return depth[l.from] == 0 && depth[l.to] == 0; });
  return wired && std::none_of(turn.begin(), turn.end(), [](double angle) { return angle < 0; });
}

/// Radius at which the vertices of a circle stand clear of each other.
double room_of(const std::vector<VertexId>& circle) {
  return circle.size() == 1 ? 0 : std::max(34.0, static_cast<double>(circle.size()) * 29 / kTurn);
}

/// Radii of all circles, the npus' first; neighbours are far enough apart for their links to be told from each other.
std::vector<double> radii_of(const std::vector<std::vector<VertexId>>& circles, bool outwards) {
  const std::size_t n = circles.size();
  std::vector<double> radii(n);
  if (outwards || n == 1) {
    radii[0] = std::max(n == 1 && circles[0].size() == 1 ? 0.0 : 150.0, room_of(circles[0]));
    for (std::size_t c = 1; c < n; ++c) radii[c] = std::max(radii[c - 1] + 62, room_of(circles[c]));
    return radii;
  }
  for (std::size_t c = n; c-- > 0;) {
    const double inner = c + 1 < n ? radii[c + 1] + 58 : 0;
    radii[c] = std::max(inner, room_of(circles[c]));
  }
  const double rings = static_cast<double>(n) - (circles.back().size() == 1 ? 1.0 : 0.35);
  radii[0] = std::max({radii[0], 190.0, 58 * rings});
  for (std::size_t c = 1; c < n; ++c) radii[c] = std::max(radii[c], radii[0] * (1 - static_cast<double>(c) / rings));
  return radii;
}

Layout lay_out_circles(const Topology& t) {
  const std::size_t n = t.vertices().size();
  const std::vector<std::uint32_t> depth = depths(t);
  std::vector<std::vector<VertexId>> circles(1 + *std::max_element(depth.begin(), depth.end()));
  for (VertexId v = 0; v < n; ++v) circles[depth[v]].push_back(v);
  const double npus = static_cast<double>(circles[0].size());
  std::vector<double> turn(n, -1);
  for (std::size_t i = 0; i < circles[0].size(); ++i)
    turn[circles[0][i]] = kTurn * (static_cast<double>(i) + 0.5) / npus;
  for (std::size_t c = 1; c < circles.size(); ++c) {
    for (const VertexId v : circles[c]) turn[v] = mean_turn(t, v, depth, turn);
  }
  const std::vector<double> radii = radii_of(circles, grows_outwards(t, depth, turn));
  Layout layout;
  layout.at.resize(n);
  for (std::size_t c = 0; c < circles.size(); ++c) {
    if (c > 0) spread_circle(circles[c], turn, radii[c]);
    for (const VertexId v : circles[c]) {
      const double angle = std::max(0.0, turn[v]) - kTurn / 4;
      layout.at[v] = {radii[c] * std::cos(angle), radii[c] * std::sin(angle)};
    }
  }
  return layout;
}

/// Moves the drawing so that nothing but the margin is left around it.
Layout crop(Layout layout) {
  Point low = layout.at.front();
  Point high = low;
  for (const Point p : layout.at) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  for (Point& p : layout.at) p = {p.x - low.x + kMargin, p.y - low.y + kMargin};
  layout.width = high.x - low.x + 2 * kMargin;
  layout.height = high.y - low.y + 2 * kMargin;
  return layout;
}

}  // namespace

Layout lay_out(const Topology& topology) {
  return crop(is_grid(topology) ? lay_out_grid(topology) : lay_out_circles(topology));
}

}  // namespace hocket

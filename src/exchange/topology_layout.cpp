#include "exchange/topology_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace hocket {
namespace {

DrawnPlace on_circle(std::size_t index, std::size_t count) {
  const double radius = std::max(1.0, static_cast<double>(count) / (2 * std::numbers::pi));
  const double angle =
      2 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(std::max<std::size_t>(count, 1));
  return {radius * std::sin(angle), -radius * std::cos(angle)};
}

/// Dimensions in pairs: the first two span a grid, the next two move that grid by its size, and so on.
DrawnPlace on_grid(const std::vector<std::int32_t>& at, const std::vector<std::int32_t>& most) {
  DrawnPlace place;
  double step_x = 1, step_y = 1;
  for (std::size_t d = 0; d < at.size(); ++d) {
    double& step = d % 2 == 0 ? step_x : step_y;
    (d % 2 == 0 ? place.x : place.y) += step * at[d];
    step *= most[d] + 1.6;
  }
  return place;
}

/// The middle of the neighbours that have a place already.
void place_between_neighbours(const Topology& t, std::vector<bool>& placed, std::vector<DrawnPlace>& places) {
  std::map<std::pair<long, long>, int> taken;
  for (VertexId v = 0; v < places.size(); ++v) {
    if (placed[v]) continue;
    DrawnPlace sum;
    std::size_t count = 0;
    for (const LinkId id : t.outgoing(v)) {
      const VertexId other = t.link(id).to;
      if (!placed[other]) continue;
      sum.x += places[other].x;
      sum.y += places[other].y;
      ++count;
    }
    if (count > 0) places[v] = {sum.x / static_cast<double>(count), sum.y / static_cast<double>(count)};
    const int copy = taken[{std::lround(places[v].x * 4), std::lround(places[v].y * 4)}]++;
    places[v].x += 0.3 + 0.35 * copy;
    places[v].y += 0.3 + 0.35 * copy;
  }
}

std::vector<DrawnPlace> by_coordinates(const Topology& t) {
  std::vector<DrawnPlace> places(t.vertices().size());
  std::vector<bool> placed(places.size(), false);
  std::vector<std::int32_t> most;
  std::size_t npus = 0;
  for (const Vertex& v : t.vertices()) {
    if (v.kind != VertexKind::kNpu) continue;
    ++npus;
    most.resize(std::max(most.size(), v.coordinates.size()), 0);
    for (std::size_t d = 0; d < v.coordinates.size(); ++d) most[d] = std::max(most[d], v.coordinates[d]);
  }
  std::size_t index = 0;
  for (VertexId v = 0; v < places.size(); ++v) {
    if (t.vertices()[v].kind != VertexKind::kNpu) continue;
    places[v] = most.size() < 2 ? on_circle(index, npus) : on_grid(t.vertices()[v].coordinates, most);
    placed[v] = true;
    ++index;
  }
  place_between_neighbours(t, placed, places);
  return places;
}

std::vector<DrawnPlace> by_distance(const Topology& t) {
  const std::size_t count = t.vertices().size();
  std::vector<std::size_t> level(count, count);
  std::vector<VertexId> queue;
  for (VertexId v = 0; v < count; ++v) {
    if (t.vertices()[v].kind != VertexKind::kNpu) continue;
    level[v] = 0;
    queue.push_back(v);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const LinkId id : t.outgoing(queue[i])) {
      const VertexId other = t.link(id).to;
      if (level[other] != count) continue;
      level[other] = level[queue[i]] + 1;
      queue.push_back(other);
    }
  }
  std::map<std::size_t, std::size_t> width, next;
  std::size_t widest = 1;
  for (VertexId v = 0; v < count; ++v) widest = std::max(widest, ++width[level[v]]);
  std::vector<DrawnPlace> places(count);
  for (VertexId v = 0; v < count; ++v) {
    const double gap = static_cast<double>(widest) / static_cast<double>(width[level[v]]);
    places[v] = {gap * (static_cast<double>(next[level[v]]++) + 0.5), -1.5 * static_cast<double>(level[v] % count)};
  }
  return places;
}

}  // namespace

std::vector<DrawnPlace> layout_of(const Topology& t) {
  const std::span<const Vertex> vertices = t.vertices();
  const bool all_npus =
      std::all_of(vertices.begin(), vertices.end(), [](const Vertex& v) { return v.kind == VertexKind::kNpu; });
  const std::size_t dimensions = vertices.empty() ? 0 : vertices.front().coordinates.size();
  const bool has_grid = dimensions > 0 && std::all_of(vertices.begin(), vertices.end(), [&](const Vertex& v) {
                          return v.kind != VertexKind::kNpu || v.coordinates.size() == dimensions;
                        });
  if (has_grid && (dimensions > 1 || all_npus)) return by_coordinates(t);
  if (!all_npus) return by_distance(t);
  std::vector<DrawnPlace> places;
  for (std::size_t i = 0; i < vertices.size(); ++i) places.push_back(on_circle(i, vertices.size()));
  return places;
}

std::vector<DrawnCable> cables_of(const Topology& topology) {
  std::map<std::pair<VertexId, VertexId>, DrawnCable> cables;
  for (const Link& link : topology.links()) {
    const VertexId a = std::min(link.from, link.to), b = std::max(link.from, link.to);
    DrawnCable& cable = cables[{a, b}];
    cable.a = a;
    cable.b = b;
    ++(link.from == a ? cable.forward : cable.backward);
    (link.from == a ? cable.rate_forward : cable.rate_backward).value += link.bandwidth.value;
  }
  std::vector<DrawnCable> result;
  result.reserve(cables.size());
  for (const auto& entry : cables) result.push_back(entry.second);
  return result;
}

std::string label_of(const DrawnCable& cable) {
  const auto one_way = [](std::size_t count, BytesPerSecond rate) {
    const std::string each = format_bandwidth({rate.value / static_cast<double>(count)});
    return count == 1 ? each : fmt::format("{} x {}", count, each);
  };
  if (cable.backward == 0) return one_way(cable.forward, cable.rate_forward) + " one way";
  if (cable.forward == 0) return one_way(cable.backward, cable.rate_backward) + " one way";
  const std::string forward = one_way(cable.forward, cable.rate_forward);
  const std::string backward = one_way(cable.backward, cable.rate_backward);
  return forward == backward ? forward : fmt::format("{} / {}", forward, backward);
}

}  // namespace hocket

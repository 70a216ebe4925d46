// Small networks from edge lists, and exact bounds by trying every cut and every partition: what the fast searches are
// checked against. Only for networks of at most a dozen vertices.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "topology/topology.h"

namespace hocket {

struct SmallEdge {
  VertexId a, b;
  double there = 1, back = 1;  // rates in units of 1 GB/s; 0: no link
};

inline Topology small_graph(std::uint32_t npus, std::uint32_t switches, const std::vector<SmallEdge>& edges) {
  TopologyBuilder builder("small");
  for (VertexId v = 0; v < npus + switches; ++v) {
    builder.add_vertex(std::to_string(v), v < npus ? VertexKind::kNpu : VertexKind::kSwitch);
  }
  for (const SmallEdge& e : edges) {
    if (e.there > 0) builder.add_link(e.a, e.b, BytesPerSecond{e.there * 1e9}, Seconds{1e-9});
    if (e.back > 0) builder.add_link(e.b, e.a, BytesPerSecond{e.back * 1e9}, Seconds{1e-9});
  }
  return *std::move(builder).build();
}

/// A connected random network: a random tree and some more edges, rates 1 to 4, asymmetric where asked.
inline Topology random_small_graph(std::uint32_t npus, std::uint32_t switches, bool symmetric, std::uint64_t seed) {
  Random random(seed);
  std::vector<SmallEdge> edges;
  const auto add = [&](VertexId a, VertexId b) {
    const double there = 1 + static_cast<double>(random.below(4));
    edges.push_back({a, b, there, symmetric ? there : 1 + static_cast<double>(random.below(4))});
  };
  const std::uint32_t count = npus + switches;
  for (VertexId v = 1; v < count; ++v) add(v, static_cast<VertexId>(random.below(v)));
  for (std::uint64_t extra = random.below(count + 1); extra > 0; --extra) {
    const VertexId a = static_cast<VertexId>(random.below(count)), b = static_cast<VertexId>(random.below(count));
    if (a != b) add(a, b);
  }
  return small_graph(npus, switches, edges);
}

inline double leaving(const Topology& t, std::uint32_t side) {
  double total = 0;
  for (const Link& l : t.links()) total += (side >> l.from & 1) && !(side >> l.to & 1) ? l.bandwidth.value : 0;
  return total;
}

inline std::uint32_t ranks_in(const Topology& t, std::uint32_t side) {
  std::uint32_t count = 0;
  for (const VertexId v : t.ranks()) count += side >> v & 1;
  return count;
}

/// Calls back with every set of vertices as a bit mask.
inline void for_every_side(const Topology& t, const std::function<void(std::uint32_t)>& call) {
  for (std::uint32_t side = 1; side + 1 < 1U << t.vertices().size(); ++side) call(side);
}

/// Calls back with every partition of the vertices (part of each vertex, number of parts).
inline void for_every_partition(std::size_t count,
                                const std::function<void(const std::vector<std::uint32_t>&, std::uint32_t)>& call) {
  std::vector<std::uint32_t> part(count, 0);
  const std::function<void(std::size_t, std::uint32_t)> place = [&](std::size_t v, std::uint32_t parts) {
    if (v == count) return call(part, parts);
    for (part[v] = 0; part[v] <= parts; ++part[v]) place(v + 1, std::max(parts, part[v] + 1));
  };
  place(0, 0);
}

}  // namespace hocket

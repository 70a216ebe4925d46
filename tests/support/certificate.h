// A small checker of bounds that shares no code with bounds/: it takes what a bound shows (a cut, a partition, link
// lengths) and computes from the topology's links alone the time that this proves. Slow and plain on purpose.
// Threading: pure functions. Refuses: certificates that do not fit the collective (0 seconds then).
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "bounds/bounds.h"

namespace hocket {

/// Bytes per second of the links from vertices of part `from` to vertices of part `to`.
inline double capacity_between(const Topology& t, const std::vector<std::uint32_t>& part, std::uint32_t from,
                               std::uint32_t to) {
  double capacity = 0;
  for (const Link& link : t.links()) {
    if (part[link.from] == from && part[link.to] == to) capacity += link.bandwidth.value;
  }
  return capacity;
}

inline double proved_by_cut(const Topology& t, const BoundCollective& what, const std::vector<std::uint32_t>& part) {
  double ranks[2] = {0, 0};
  for (const VertexId v : t.ranks()) ++ranks[part[v]];
  const double seconds = static_cast<double>(what.bytes().count) / capacity_between(t, part, 0, 1);
  const double n = t.rank_count();
  const std::uint32_t root_part = part[t.vertex_of(what.collective.root)];
  switch (what.collective.kind) {
    case CollectiveKind::kAllGather:
      return ranks[1] > 0 ? seconds * ranks[0] / n : 0;
    case CollectiveKind::kReduceScatter:
      return ranks[0] > 0 ? seconds * ranks[1] / n : 0;
    case CollectiveKind::kBroadcast:
      return root_part == 0 && ranks[1] > 0 ? seconds : 0;
    case CollectiveKind::kReduce:
      return root_part == 1 && ranks[0] > 0 ? seconds : 0;
    case CollectiveKind::kAllReduce:
      return ranks[0] > 0 && ranks[1] > 0 ? seconds : 0;
    default:
      return seconds * ranks[0] * ranks[1] / n;
  }
}

/// All-reduce only, every vertex a rank.
inline double proved_by_partition(const Topology& t, const BoundCollective& what,
                                  const std::vector<std::uint32_t>& part) {
  if (t.rank_count() != t.vertices().size() || what.collective.kind != CollectiveKind::kAllReduce) return 0;
  const std::set<std::uint32_t> parts(part.begin(), part.end());
  double capacity = 0;
  for (const Link& link : t.links()) capacity += part[link.from] != part[link.to] ? link.bandwidth.value : 0;
  return 2.0 * static_cast<double>(parts.size() - 1) * static_cast<double>(what.bytes().count) / capacity;
}

/// Distances between all ranks under lengths that hold both ways (Floyd and Warshall).
inline std::vector<std::vector<double>> rank_distances(const Topology& t, const std::vector<PairLength>& lengths) {
  const std::size_t n = t.vertices().size();
  std::vector<std::vector<double>> d(n, std::vector<double>(n, std::numeric_limits<double>::infinity()));
  for (std::size_t v = 0; v < n; ++v) d[v][v] = 0;
  for (const Link& link : t.links()) d[link.from][link.to] = d[link.to][link.from] = 0;
  for (const PairLength& pair : lengths) d[pair.a][pair.b] = d[pair.b][pair.a] = pair.length;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
    }
  }
  return d;
}

inline double proved_by_lengths(const Topology& t, const BoundCollective& what,
                                const std::vector<PairLength>& lengths) {
  const auto d = rank_distances(t, lengths);
  double weight = 0;
  for (const Link& link : t.links()) {
    for (const PairLength& pair : lengths) {
      const bool same = (pair.a == link.from && pair.b == link.to) || (pair.a == link.to && pair.b == link.from);
      if (same) weight += pair.length * link.bandwidth.value;
    }
  }
  const double bytes = static_cast<double>(what.bytes().count);
  double total = 0;
  if (what.collective.kind == CollectiveKind::kAllToAll) {
    for (const VertexId a : t.ranks()) {
      for (const VertexId b : t.ranks()) total += d[a][b];
    }
    return bytes / t.rank_count() * total / weight;
  }
  // Prim's smallest spanning tree of the ranks.
  std::vector<VertexId> inside{t.ranks().front()};
  std::vector<VertexId> outside(t.ranks().begin() + 1, t.ranks().end());
  while (!outside.empty()) {
    double least = std::numeric_limits<double>::infinity();
    auto next = outside.begin();
    for (auto o = outside.begin(); o != outside.end(); ++o) {
      for (const VertexId i : inside) {
        if (d[i][*o] < least) least = d[i][*o], next = o;
      }
    }
    total += least;
    inside.push_back(*next);
    outside.erase(next);
  }
  return what.collective.kind == CollectiveKind::kAllReduce ? 2 * bytes * total / weight : 0;
}

/// The bandwidth bound that the certificate proves.
inline double proved_seconds(const Topology& t, const BoundCollective& what, const Bound& bound) {
  if (bound.bandwidth_rule == "cut") return proved_by_cut(t, what, bound.part_of);
  if (bound.bandwidth_rule == "partition") return proved_by_partition(t, what, bound.part_of);
  return proved_by_lengths(t, what, bound.lengths);
}

}  // namespace hocket

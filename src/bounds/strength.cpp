#include "bounds/strength.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bounds/cuts.h"
#include "bounds/max_flow.h"

namespace hocket {
namespace {

constexpr int kNewtonStepsMax = 64;
constexpr std::size_t kThresholdsMax = 64;

class UnionFind {
 public:
  explicit UnionFind(std::uint32_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::uint32_t find(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }
  std::vector<std::uint32_t> labels() {
    std::vector<std::uint32_t> result(parent_.size());
    for (std::uint32_t v = 0; v < result.size(); ++v) result[v] = find(v);
    return result;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

void keep_worse(Partition& worst, Partition other) {
  if (other.time_per_byte() > worst.time_per_byte()) worst = std::move(other);
}

/// Single vertices, and for each rate the parts that faster links join.
Partition worst_simple_partition(const FlowNetwork& network) {
  std::vector<double> rates;
  rates.reserve(network.pairs.size());
  for (const FlowNetwork::Pair& pair : network.pairs) rates.push_back(pair.capacity);
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  std::vector<std::uint32_t> singles(network.vertex_count);
  std::iota(singles.begin(), singles.end(), 0);
  Partition worst = measure_partition(network, std::move(singles));
  const std::size_t count = std::min(rates.size(), kThresholdsMax);
  for (std::size_t i = 0; i < count; ++i) {
    UnionFind parts(network.vertex_count);
    const double threshold = rates[i * rates.size() / count];
    for (const FlowNetwork::Pair& pair : network.pairs) {
      if (pair.capacity > threshold) parts.join(pair.a, pair.b);
    }
    keep_worse(worst, measure_partition(network, parts.labels()));
  }
  return worst;
}

/// True when every vertex has the same capacity around it and no cut is smaller. Then single vertices are the worst
/// partition: k parts have at least k/2 times that capacity between them, and k/(k-1) is least for the most parts.
bool singles_are_worst(const FlowNetwork& network) {
  if (!network.symmetric) return false;
  std::vector<double> around(network.vertex_count, 0);
  for (const FlowNetwork::Pair& pair : network.pairs) {
    around[pair.a] += pair.capacity / 2;
    around[pair.b] += pair.capacity / 2;
  }
  const auto [least, most] = std::minmax_element(around.begin(), around.end());
  return *most <= *least * (1 + 1e-12) && smallest_cut(network).capacity >= *least * (1 - 1e-9);
}

/// The partition that minimises capacity(P)/2 - strength * (parts - 1), halves because pairs hold both directions.
/// Greedy for the truncation of g(S) = capacity(around S)/4 - strength: vertices are added one by one, each gets the
/// largest value its tightest set leaves it, and tight sets that meet become one part.
class Greedy {
 public:
  explicit Greedy(const FlowNetwork& network)
      : network_(network),
        source_(network.vertex_count),
        sink_(network.vertex_count + 1),
        flow_(network.vertex_count + 2) {
    for (const FlowNetwork::Pair& pair : network.pairs) flow_.add_edge(pair.a, pair.b, pair.capacity / 4);
    first_vertex_arc_ = static_cast<std::uint32_t>(network.pairs.size());
    for (VertexId v = 0; v < network.vertex_count; ++v) {
      flow_.add_arc(source_, v, 0);
      flow_.add_arc(v, sink_, 0);
    }
  }

  Partition best_for(double strength) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    for (VertexId v = 0; v < network_.vertex_count; ++v) set_arcs(v, 0, kInfinite);
    UnionFind parts(network_.vertex_count);
    double positive = 0;
    for (VertexId v = 0; v < network_.vertex_count; ++v) {
      set_arcs(v, kInfinite, 0);
      const double value = flow_.run(source_, sink_) - positive - strength;
      for (VertexId u = 0; u < v; ++u) {
        if (flow_.on_source_side(u)) parts.join(u, v);
      }
      set_arcs(v, std::max(value, 0.0), std::max(-value, 0.0));
      positive += std::max(value, 0.0);
    }
    return measure_partition(network_, parts.labels());
  }

 private:
  void set_arcs(VertexId v, double from_source, double to_sink) {
    flow_.set_capacity(first_vertex_arc_ + 2 * v, from_source);
    flow_.set_capacity(first_vertex_arc_ + 2 * v + 1, to_sink);
  }

  const FlowNetwork& network_;
  std::uint32_t source_, sink_;
  MaxFlow flow_;
  std::uint32_t first_vertex_arc_ = 0;
};

}  // namespace

Partition measure_partition(const FlowNetwork& network, std::vector<std::uint32_t> part_of) {
  Partition partition;
  std::vector<std::uint32_t> number(network.vertex_count, UINT32_MAX);
  for (std::uint32_t& part : part_of) {
    if (number[part] == UINT32_MAX) number[part] = partition.parts++;
    part = number[part];
  }
  for (const FlowNetwork::Pair& pair : network.pairs) {
    if (part_of[pair.a] == part_of[pair.b]) continue;
    partition.capacity += pair.capacity;
    partition.links += pair.links;
  }
  partition.part_of = std::move(part_of);
  return partition;
}

Partition worst_partition(const FlowNetwork& network) {
  Partition worst = worst_simple_partition(network);
  if (std::uint64_t{network.vertex_count} * network.pairs.size() > kStrengthWorkMax) return worst;
  if (worst.parts == network.vertex_count && singles_are_worst(network)) {
    worst.exact = true;
    return worst;
  }
  Greedy greedy(network);
  for (int step = 0; step < kNewtonStepsMax; ++step) {
    // Strength is capacity per direction; slightly below the current one only strictly worse partitions survive.
    Partition next = greedy.best_for((1 - 1e-9) / worst.time_per_byte());
    if (next.time_per_byte() <= worst.time_per_byte() * (1 + 1e-9)) break;
    worst = std::move(next);
  }
  worst.exact = true;
  return worst;
}

}  // namespace hocket

#include "bounds/lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

namespace hocket {
namespace {

constexpr std::size_t kClassesMax = 24;
constexpr std::uint64_t kWeightWork = 4'000'000;     // pairs visited by multiplicative weights, about a second
constexpr std::uint64_t kDistanceWork = 20'000'000;  // pairs visited for sums of distances

/// Shortest distances over pairs, either direction, from one or all ranks.
class Metric {
 public:
  explicit Metric(const FlowNetwork& network) : network_(network), begin_(network.vertex_count + 1, 0) {
    for (const FlowNetwork::Pair& pair : network.pairs) ++begin_[pair.a + 1], ++begin_[pair.b + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    pairs_.resize(2 * network.pairs.size());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t p = 0; p < network.pairs.size(); ++p) {
      pairs_[next[network.pairs[p].a]++] = p;
      pairs_[next[network.pairs[p].b]++] = p;
    }
  }

  void run(const std::vector<double>& length, std::span<const VertexId> starts) {
    distance.assign(network_.vertex_count, std::numeric_limits<double>::infinity());
    cell.assign(network_.vertex_count, UINT32_MAX);
    through.assign(network_.vertex_count, UINT32_MAX);
    std::priority_queue<std::pair<double, VertexId>, std::vector<std::pair<double, VertexId>>, std::greater<>> queue;
    for (const VertexId v : starts) {
      distance[v] = 0;
      cell[v] = v;
      queue.push({0, v});
    }
    while (!queue.empty()) {
      const auto [d, v] = queue.top();
      queue.pop();
      if (d > distance[v]) continue;
      for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k) {
        const FlowNetwork::Pair& pair = network_.pairs[pairs_[k]];
        const VertexId to = pair.a == v ? pair.b : pair.a;
        if (d + length[pairs_[k]] >= distance[to]) continue;
        distance[to] = d + length[pairs_[k]];
        cell[to] = cell[v];
        through[to] = pairs_[k];
        queue.push({distance[to], to});
      }
    }
  }

  std::vector<double> distance;
  std::vector<VertexId> cell;          // nearest start
  std::vector<std::uint32_t> through;  // pair on the way there

 private:
  const FlowNetwork& network_;
  std::vector<std::uint32_t> begin_, pairs_;
};

double weight_of(const FlowNetwork& network, const std::vector<double>& length) {
  double total = 0;
  for (std::size_t p = 0; p < length.size(); ++p) total += network.pairs[p].capacity * length[p];
  return total;
}

/// The smallest spanning tree of the ranks by distance, from the cells around them (Mehlhorn), and the pairs it uses.
class RankTree {
 public:
  explicit RankTree(const FlowNetwork& network) : network_(network), metric_(network) {}

  /// Total length; afterwards uses[p] counts how often pair p is on the tree's paths.
  double grow(const std::vector<double>& length) {
    metric_.run(length, network_.ranks);
    std::vector<std::pair<double, std::uint32_t>> bridges;
    for (std::uint32_t p = 0; p < network_.pairs.size(); ++p) {
      const FlowNetwork::Pair& pair = network_.pairs[p];
      if (metric_.cell[pair.a] == metric_.cell[pair.b]) continue;
      bridges.emplace_back(metric_.distance[pair.a] + length[p] + metric_.distance[pair.b], p);
    }
    std::sort(bridges.begin(), bridges.end());
    uses.assign(network_.pairs.size(), 0);
    parent_.resize(network_.vertex_count);
    std::iota(parent_.begin(), parent_.end(), 0);
    double total = 0;
    for (const auto& [bridge_length, p] : bridges) {
      const VertexId a = find(metric_.cell[network_.pairs[p].a]);
      const VertexId b = find(metric_.cell[network_.pairs[p].b]);
      if (a == b) continue;
      parent_[a] = b;
      total += bridge_length;
      ++uses[p];
      count_way(network_.pairs[p].a);
      count_way(network_.pairs[p].b);
    }
    return total;
  }

  std::vector<double> uses;

 private:
  VertexId find(VertexId v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void count_way(VertexId v) {
    while (metric_.through[v] != UINT32_MAX) {
      const std::uint32_t p = metric_.through[v];
      ++uses[p];
      v = network_.pairs[p].a == v ? network_.pairs[p].b : network_.pairs[p].a;
    }
  }

  const FlowNetwork& network_;
  Metric metric_;
  std::vector<VertexId> parent_;
};

/// Natural lengths: 1 everywhere, 1 / capacity, 1 on each class of links (kinds of their ends and rate), 1 up to each
/// rate.
std::vector<Lengths> natural_lengths(const FlowNetwork& network) {
  const std::size_t count = network.pairs.size();
  std::vector<Lengths> all{{std::vector<double>(count, 1), 0, "length 1 on every link"},
                           {std::vector<double>(count, 0), 0, "length 1/rate on every link"}};
  std::map<std::tuple<VertexKind, VertexKind, double>, std::vector<std::uint32_t>> classes;
  std::map<double, std::vector<std::uint32_t>> rates;
  for (std::uint32_t p = 0; p < count; ++p) {
    const FlowNetwork::Pair& pair = network.pairs[p];
    all[1].length[p] = 1 / pair.capacity;
    const VertexKind a = network.kinds[pair.a], b = network.kinds[pair.b];
    classes[{std::min(a, b), std::max(a, b), pair.capacity}].push_back(p);
    rates[pair.capacity].push_back(p);
  }
  for (const auto& [key, members] : classes) {
    if (all.size() > kClassesMax) break;
    Lengths lengths{std::vector<double>(count, 0), 0, ""};
    for (const std::uint32_t p : members) lengths.length[p] = 1;
    lengths.description =
        fmt::format("length 1 on the {} {}-{} connections of {} both ways", members.size(), name_of(std::get<0>(key)),
                    name_of(std::get<1>(key)), format_bandwidth({std::get<2>(key)}));
    all.push_back(std::move(lengths));
  }
  Lengths slow{std::vector<double>(count, 0), 0, ""};
  for (const auto& [rate, members] : rates) {
    if (all.size() > 2 * kClassesMax || rates.size() == 1) break;
    for (const std::uint32_t p : members) slow.length[p] = 1;
    slow.description = fmt::format("length 1 on connections of up to {} both ways", format_bandwidth({rate}));
    all.push_back(slow);
  }
  return all;
}

/// Multiplicative weights: lengths grow with the load that the best answers to earlier lengths put on each pair.
/// `answer(length, uses)` returns the value that lengths of total weight 1 would prove and how often it used each pair.
template <class Answer>
void improve(const FlowNetwork& network, std::uint64_t step_work, Lengths& best, Answer answer) {
  const std::size_t count = network.pairs.size();
  const std::uint64_t steps = std::min<std::uint64_t>(kWeightWork / std::max<std::uint64_t>(1, step_work), 2000);
  std::vector<double> load(count, 0), length(count), uses;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const double heaviest = *std::max_element(load.begin(), load.end());
    const double sharpness = heaviest > 0 ? 4.0 * std::sqrt(static_cast<double>(step)) / heaviest : 0;
    for (std::size_t p = 0; p < count; ++p) {
      length[p] = std::exp(sharpness * (load[p] - heaviest)) / network.pairs[p].capacity;
    }
    const double time = answer(length, uses) / weight_of(network, length);
    for (std::size_t p = 0; p < count; ++p) load[p] += uses[p] / network.pairs[p].capacity;
    if (time > best.time_per_byte * (1 + 1e-9)) {
      best = {length, time, fmt::format("link lengths found by search over {} connections", count)};
    }
  }
}

/// Sum of the distances between all ranks over the number of ranks; only from one rank where all look alike.
class RankDistances {
 public:
  explicit RankDistances(const FlowNetwork& network) : network_(network), metric_(network) {}

  [[nodiscard]] std::size_t starts() const { return network_.transitive ? 1 : network_.ranks.size(); }

  double sum(const std::vector<double>& length) {
    double total = 0;
    uses.assign(network_.pairs.size(), 0);
    for (std::size_t i = 0; i < starts(); ++i) {
      metric_.run(length, std::span(&network_.ranks[i], 1));
      for (const VertexId v : network_.ranks) {
        total += metric_.distance[v];
        count_way(v);
      }
    }
    return total / static_cast<double>(starts());
  }

  std::vector<double> uses;

 private:
  void count_way(VertexId v) {
    while (metric_.through[v] != UINT32_MAX) {
      const std::uint32_t p = metric_.through[v];
      ++uses[p];
      v = network_.pairs[p].a == v ? network_.pairs[p].b : network_.pairs[p].a;
    }
  }

  const FlowNetwork& network_;
  Metric metric_;
};

}  // namespace

Lengths best_tree_lengths(const FlowNetwork& network) {
  if (network.ranks.size() < 2) return {};
  RankTree tree(network);
  Lengths best;
  for (Lengths& lengths : natural_lengths(network)) {
    lengths.time_per_byte = 2 * tree.grow(lengths.length) / weight_of(network, lengths.length);
    if (lengths.time_per_byte > best.time_per_byte * (1 + 1e-9)) best = std::move(lengths);
  }
  improve(network, network.pairs.size(), best, [&](const std::vector<double>& length, std::vector<double>& uses) {
    const double total = 2 * tree.grow(length);
    uses = tree.uses;
    return total;
  });
  return best;
}

Lengths best_distance_lengths(const FlowNetwork& network) {
  if (network.ranks.size() < 2) return {};
  RankDistances distances(network);
  const std::uint64_t step_work = distances.starts() * network.pairs.size();
  Lengths best;
  std::uint64_t work = 0;
  for (Lengths& lengths : natural_lengths(network)) {
    if (work > kDistanceWork) break;
    work += step_work;
    lengths.time_per_byte = distances.sum(lengths.length) / weight_of(network, lengths.length);
    if (lengths.time_per_byte > best.time_per_byte * (1 + 1e-9)) best = std::move(lengths);
  }
  // Ways from a single rank do not show the load of all, so symmetric networks keep their natural lengths.
  if (network.transitive) return best;
  improve(network, step_work, best, [&](const std::vector<double>& length, std::vector<double>& uses) {
    const double total = distances.sum(length);
    uses = distances.uses;
    return total;
  });
  return best;
}

}  // namespace hocket

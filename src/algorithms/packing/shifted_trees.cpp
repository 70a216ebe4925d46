#include "algorithms/packing/shifted_trees.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hocket {
namespace {

constexpr double kUnevenMax = 1.02;
constexpr double kEvenEnough = 1.005;
constexpr std::uint32_t kNone = UINT32_MAX;

/// Shortest ways from vertex 0: distances, and per vertex the classes of links over which one of them arrives.
struct ShortestWays {
  std::vector<std::uint32_t> order;  // vertices by distance
  std::vector<std::uint32_t> distance;
  std::vector<std::vector<std::uint32_t>> last;  // per vertex: classes

  explicit ShortestWays(const Translations& t) : order(1, 0), distance(t.vertices(), kNone), last(t.vertices()) {
    distance[0] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::uint32_t c = 0; c < t.classes(); ++c) {
        const std::uint32_t to = t.head(order[i], c);
        if (distance[to] == kNone) {
          distance[to] = distance[order[i]] + 1;
          order.push_back(to);
        }
        if (distance[to] == distance[order[i]] + 1) last[to].push_back(c);
      }
    }
  }
};

/// Gives every item one of its bins so that the fullest bin, relative to its capacity, is as empty as can be.
class Balance {
 public:
  Balance(std::vector<std::vector<std::uint32_t>> options, std::vector<double> capacity)
      : options_(std::move(options)),
        capacity_(std::move(capacity)),
        chosen_(options_.size(), kNone),
        items_(capacity_.size()) {
    std::vector<std::uint32_t> order(options_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return options_[a].size() < options_[b].size(); });
    for (const std::uint32_t item : order) {
      const auto& bins = options_[item];
      put(item, *std::min_element(bins.begin(), bins.end(), [&](auto a, auto b) { return with(a) < with(b); }));
    }
    while (relieve_fullest()) {
    }
  }

  /// Items of the fullest bin per capacity.
  [[nodiscard]] double fullest() const {
    double most = 0;
    for (std::uint32_t b = 0; b < items_.size(); ++b) most = std::max(most, fill(b));
    return most;
  }
  [[nodiscard]] std::uint32_t bin_of(std::uint32_t item) const { return chosen_[item]; }

 private:
  [[nodiscard]] double fill(std::uint32_t bin) const {
    return static_cast<double>(items_[bin].size()) / capacity_[bin];
  }
  [[nodiscard]] double with(std::uint32_t bin) const {
    return (static_cast<double>(items_[bin].size()) + 1) / capacity_[bin];
  }
  void put(std::uint32_t item, std::uint32_t bin) {
    if (chosen_[item] != kNone) std::erase(items_[chosen_[item]], item);
    chosen_[item] = bin;
    items_[bin].push_back(item);
  }

  /// Moves one item on from each of the fullest bins, along a chain that ends where there is room.
  bool relieve_fullest() {
    const double most = fullest() * (1 - 1e-9);
    for (std::uint32_t bin = 0; bin < items_.size(); ++bin) {
      if (fill(bin) >= most && !relieve(bin, most)) return false;
    }
    return true;
  }

  bool relieve(std::uint32_t start, double most) {
    std::vector<std::uint32_t> by(items_.size(), kNone);  // the item that led to a bin
    std::vector<std::uint32_t> queue(1, start);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const std::uint32_t item : items_[queue[i]]) {
        for (const std::uint32_t next : options_[item]) {
          if (next == start || by[next] != kNone) continue;
          by[next] = item;
          queue.push_back(next);
          if (with(next) >= most) continue;
          for (std::uint32_t bin = next; bin != start;) {
            const std::uint32_t moved = by[bin];
            const std::uint32_t from = chosen_[moved];
            put(moved, bin);
            bin = from;
          }
          return true;
        }
      }
    }
    return false;
  }

  std::vector<std::vector<std::uint32_t>> options_;
  std::vector<double> capacity_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::vector<std::uint32_t>> items_;  // per bin
};

/// `count` trees from vertex 0: item tree * vertices + v chooses the class by which v is reached.
Balance choose_classes(const Translations& t, const ShortestWays& ways, std::uint32_t count) {
  std::vector<std::vector<std::uint32_t>> options;
  options.reserve(std::size_t{count} * ways.order.size());
  for (std::uint32_t tree = 0; tree < count; ++tree) {
    for (const std::uint32_t v : ways.order) {
      if (v != 0) options.push_back(ways.last[v]);
    }
  }
  std::vector<double> capacity;
  for (std::uint32_t c = 0; c < t.classes(); ++c) capacity.push_back(t.bandwidth(c));
  return {std::move(options), std::move(capacity)};
}

/// The time of a vertex's links at full use.
double even_time(const Translations& t) {
  double rate = 0;
  for (std::uint32_t c = 0; c < t.classes(); ++c) rate += t.bandwidth(c);
  return (t.vertices() - 1) / rate;
}

constexpr std::array kPerRoot{1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U};
constexpr std::uint64_t kEdgesMax = 200'000;

Trees shift_to_all(const Translations& t, const ShortestWays& ways, const Balance& balance, std::uint32_t count,
                   bool reversed) {
  Trees trees{.count = t.vertices() * count, .steps = ways.distance[ways.order.back()], .edges = {}, .links = {}};
  const std::uint32_t edges = t.vertices() - 1;
  trees.edges.reserve(std::size_t{trees.count} * edges);
  trees.links.reserve(std::size_t{trees.count} * edges);
  for (std::uint32_t root = 0; root < t.vertices(); ++root) {
    for (std::uint32_t j = 0; j < count; ++j) {
      for (std::uint32_t i = 0; i < edges; ++i) {
        const std::uint32_t cls = balance.bin_of(j * edges + i);
        const std::uint32_t child = t.sum(root, ways.order[i + 1]);
        const std::uint32_t parent = t.tail(child, cls);
        trees.edges.push_back({.tree = root * count + j,
                               .parent = parent,
                               .child = child,
                               .step = ways.distance[ways.order[i + 1]] - 1,
                               .first_link = static_cast<std::uint32_t>(trees.links.size()),
                               .link_count = 1});
        trees.links.push_back(reversed ? t.link(child, t.twin(cls)) : t.link(parent, cls));
      }
    }
  }
  return trees;
}

/// Every stride a divisor of its extent; their multiples are a subgroup.
std::vector<std::vector<std::uint32_t>> subgroup_strides(std::span<const std::uint32_t> extents) {
  std::vector<std::vector<std::uint32_t>> all(1);
  for (const std::uint32_t extent : extents) {
    std::vector<std::vector<std::uint32_t>> longer;
    for (const auto& strides : all) {
      for (std::uint32_t s = 1; s <= extent; ++s) {
        if (extent % s != 0) continue;
        longer.push_back(strides);
        longer.back().push_back(s);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// The subgroup of multiples of strides: its members, and for each vertex the number of its coset.
struct Subgroup {
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> coset;
  std::uint32_t cosets = 1;

  Subgroup(const Translations& t, std::span<const std::uint32_t> strides) {
    for (const std::uint32_t s : strides) cosets *= s;
    for (std::uint32_t v = 0; v < t.vertices(); ++v) {
      std::uint32_t rest = v, number = 0, factor = 1;
      for (std::size_t d = 0; d < strides.size(); ++d) {
        number += rest % t.extents()[d] % strides[d] * factor;
        factor *= strides[d];
        rest /= t.extents()[d];
      }
      coset.push_back(number);
      if (number == 0) members.push_back(v);
    }
  }
};

/// One tree whose cables are chosen so that its copies, shifted by the subgroup, share all cables evenly.
class ShiftedTree {
 public:
  ShiftedTree(const Translations& t, const ShortestWays& ways, std::span<const std::uint32_t> strides)
      : t_(t), ways_(ways), group_(t, strides), balance_(options(), capacity()) {}

  /// Load of the fullest cable per rate, for one byte over all trees.
  [[nodiscard]] double time() const { return balance_.fullest() / static_cast<double>(group_.members.size()); }

  [[nodiscard]] SpanningPacking packing(const Cables& cables) const;

 private:
  /// A cable's orbit has two names, one for each direction; the smaller counts.
  [[nodiscard]] std::uint32_t bin(std::uint32_t tail, std::uint32_t cls) const {
    const std::uint32_t one = cls * group_.cosets + group_.coset[tail];
    const std::uint32_t two = t_.twin(cls) * group_.cosets + group_.coset[t_.head(tail, cls)];
    return std::min(one, two);
  }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> options() const {
    std::vector<std::vector<std::uint32_t>> all;
    all.reserve(ways_.order.size());
    for (std::size_t i = 1; i < ways_.order.size(); ++i) {
      const std::uint32_t v = ways_.order[i];
      all.emplace_back();
      for (const std::uint32_t c : ways_.last[v]) all.back().push_back(bin(t_.tail(v, c), c));
    }
    return all;
  }
  /// A cable that is its own shifted reverse has half as many copies.
  [[nodiscard]] std::vector<double> capacity() const {
    std::vector<double> rates(std::size_t{t_.classes()} * group_.cosets, 0);
    for (std::uint32_t c = 0; c < t_.classes(); ++c) {
      for (std::uint32_t v = 0; v < t_.vertices(); ++v) {
        // Each cable of the orbit is met from both ends.
        rates[bin(v, c)] += t_.bandwidth(c) / 2 / static_cast<double>(group_.members.size());
      }
    }
    for (double& rate : rates) rate = std::max(rate, 1e-300);
    return rates;
  }

  const Translations& t_;
  const ShortestWays& ways_;
  Subgroup group_;
  Balance balance_;
};

SpanningPacking ShiftedTree::packing(const Cables& cables) const {
  std::vector<std::uint32_t> cable_of(std::size_t{t_.vertices()} * t_.classes(), kNone);
  for (std::uint32_t c = 0; c < cables.from_a.size(); ++c) {
    for (const LinkId id : {cables.from_a[c], cables.from_b[c]}) cable_of[id] = c;
  }
  SpanningPacking packing;
  std::vector<double> load(cables.graph.cables.size(), 0);
  for (const std::uint32_t shift : group_.members) {
    PackedTree tree;
    tree.root = shift;
    tree.height = ways_.distance[ways_.order.back()];
    tree.parent.resize(t_.vertices(), shift);
    tree.cable.resize(t_.vertices(), 0);
    tree.depth.resize(t_.vertices(), 0);
    for (std::size_t i = 0; i < ways_.order.size(); ++i) {
      const std::uint32_t v = ways_.order[i], here = t_.sum(v, shift);
      tree.order.push_back(here);
      tree.depth[here] = ways_.distance[v];
      if (i == 0) continue;
      const auto& classes = ways_.last[v];
      const std::uint32_t chosen = balance_.bin_of(static_cast<std::uint32_t>(i - 1));
      const std::uint32_t cls =
          *std::find_if(classes.begin(), classes.end(), [&](auto c) { return bin(t_.tail(v, c), c) == chosen; });
      tree.parent[here] = t_.tail(here, cls);
      tree.cable[here] = cable_of[t_.link(tree.parent[here], cls)];
      ++load[tree.cable[here]];
    }
    packing.trees.push_back(std::move(tree));
  }
  for (std::size_t c = 0; c < load.size(); ++c) {
    packing.load = std::max(packing.load, load[c] / cables.graph.cables[c].capacity);
  }
  return packing;
}

constexpr std::size_t kShiftsMax = 64;

}  // namespace

std::optional<RootedPacking> pack_shifted_roots(const Translations& t, bool reversed, std::uint32_t per_root) {
  const ShortestWays ways(t);
  const double even = even_time(t);
  std::optional<Balance> best;
  std::uint32_t best_count = 0;
  double best_time = 0;
  for (const std::uint32_t count : kPerRoot) {
    if (per_root != 0 && count != per_root) continue;
    if (count > 1 && per_root == 0 && std::uint64_t{count} * t.vertices() * t.vertices() > kEdgesMax) break;
    Balance balance = choose_classes(t, ways, count);
    const double time = balance.fullest() / count;
    if (best && time > best_time * 0.995) continue;
    best = std::move(balance);
    best_count = count;
    best_time = time;
    if (time <= even * kEvenEnough) break;
  }
  if (!best || best_time > even * kUnevenMax) return std::nullopt;
  return RootedPacking{shift_to_all(t, ways, *best, best_count, reversed), best_count, best_time};
}

std::optional<ShiftedPacking> pack_shifted_cables(const Translations& t, const Cables& cables) {
  if (cables.graph.cables.size() * 2 != std::size_t{t.vertices()} * t.classes()) return std::nullopt;
  const ShortestWays ways(t);
  const double even = 2 * even_time(t) / t.vertices();
  auto subgroups = subgroup_strides(t.extents());
  const auto cosets = [](const std::vector<std::uint32_t>& strides) {
    return std::accumulate(strides.begin(), strides.end(), std::uint64_t{1}, std::multiplies<>());
  };
  std::stable_sort(subgroups.begin(), subgroups.end(),
                   [&](const auto& a, const auto& b) { return cosets(a) > cosets(b); });
  std::optional<ShiftedTree> best;
  for (const auto& strides : subgroups) {
    if (t.vertices() / cosets(strides) > kShiftsMax) break;
    ShiftedTree tree(t, ways, strides);
    if (best && tree.time() > best->time() * 0.995) continue;
    best.emplace(std::move(tree));
    if (best->time() <= even * kEvenEnough) break;
  }
  if (!best || best->time() > even * kUnevenMax) return std::nullopt;
  return ShiftedPacking{best->packing(cables), best->time() / even};
}

}  // namespace hocket

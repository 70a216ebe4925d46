#include "algorithms/packing/spanning_packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "algorithms/packing/shortener.h"
#include "algorithms/packing/tree_set.h"

namespace hocket {
namespace {

/// Cable visits that one packing may spend on exchanges.
constexpr std::uint64_t kExchangeWorkMax = 30'000'000;

/// Numbers of trees to try, on graphs with fewer cables than kLargeCables and on others.
constexpr std::array kCounts{1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U};
constexpr std::uint32_t kFewTrees = 3;
constexpr std::uint32_t kManyTrees = 28;
constexpr std::size_t kLargeCables = 1500;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The vertex from which the farthest one is nearest, and that distance, in cables.
struct Centre {
  std::uint32_t vertex = 0;
  std::uint32_t eccentricity = 0;
};

Centre find_centre(const TreeSet& set) {
  constexpr std::uint32_t kStartsMax = 64;
  const std::uint32_t count = set.graph().vertex_count;
  Centre best{0, UINT32_MAX};
  std::vector<std::uint32_t> distances;
  // Sweeps to the farthest vertex and back to the middle find the centre of grids; on large graphs that must do.
  std::uint32_t start = 0;
  for (std::uint32_t i = 0; i < std::min(count, kStartsMax); ++i) {
    const std::uint32_t vertex = count <= kStartsMax ? i : start;
    set.distances_from(vertex, distances);
    const auto farthest = std::max_element(distances.begin(), distances.end());
    if (*farthest < best.eccentricity) best = {vertex, *farthest};
    start = static_cast<std::uint32_t>(mixed(i + 1) % count);
  }
  return best;
}

/// How even `count` trees could be if any cable could be in any tree: the least time of any choice of whole loads over
/// the time of fractional ones, as a share.
class Evenness {
 public:
  explicit Evenness(const CableGraph& graph) : edges_(graph.vertex_count - 1) {
    for (const CableGraph::Cable& cable : graph.cables) {
      ++classes_[cable.capacity];
      capacity_ += cable.capacity;
    }
  }

  [[nodiscard]] double of(std::uint32_t count) const {
    const double wanted = static_cast<double>(count) * edges_;
    double low = wanted / capacity_;
    double high = low + count / classes_.begin()->first;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      double loads = 0;
      for (const auto& [capacity, cables] : classes_) loads += cables * std::floor(middle * capacity * (1 + 1e-9));
      (loads >= wanted ? high : low) = middle;
    }
    return wanted / capacity_ / high;
  }

  /// The count near `about` that can be most even, fewer trees where it makes no difference.
  [[nodiscard]] std::uint32_t best_near(std::uint32_t about) const {
    std::uint32_t best = about;
    for (std::uint32_t count = about - about / 4; count <= about + about / 4; ++count) {
      if (of(count) > of(best) + 0.005) best = count;
    }
    return best;
  }
  /// The count near `about` that leaves three hundredths of the cables free, so that trees find short ways.
  [[nodiscard]] std::uint32_t roomy_near(std::uint32_t about) const {
    constexpr double kEvenness = 0.97;
    std::uint32_t best = about;
    for (std::uint32_t count = about - about / 4; count <= about + about / 4; ++count) {
      if (std::abs(of(count) - kEvenness) < std::abs(of(best) - kEvenness)) best = count;
    }
    return best;
  }

 private:
  double edges_;
  double capacity_ = 0;
  std::map<double, double> classes_;  // cables by capacity
};

class Packer {
 public:
  Packer(const CableGraph& graph, std::uint32_t count) : graph_(graph), set_(graph, count), count_(count) {
    for (const CableGraph::Cable& cable : graph.cables) capacity_ += cable.capacity;
  }

  SpanningPacking pack() {
    centre_ = find_centre(set_);
    even_ = (graph_.vertex_count - 1) / capacity_;
    full_ = count_ * even_ / Evenness(graph_).of(count_) * (1 + 1e-9);
    for (std::uint32_t tree = 0; tree < count_; ++tree) grow(tree, (tree + 1) * even_, false);
    sweep();
    const bool reached = most_loaded() <= full_;
    while (most_loaded() > full_ && relieve()) {
    }
    full_ = most_loaded() * (1 + 1e-9);
    if (!reached) sweep();
    return finish();
  }

  SpanningPacking mend(const std::vector<std::vector<std::uint32_t>>& kept) {
    centre_ = find_centre(set_);
    full_ = count_ * (graph_.vertex_count - 1) / capacity_ / Evenness(graph_).of(count_) * (1 + 1e-9);
    for (std::uint32_t tree = 0; tree < count_; ++tree) {
      for (const std::uint32_t cable : kept[tree]) set_.insert(tree, cable);
    }
    for (std::uint32_t tree = 0; tree < count_; ++tree) join(tree, kept[tree]);
    while (most_loaded() > full_ && relieve()) {
    }
    full_ = most_loaded() * (1 + 1e-9);
    return finish();
  }

 private:
  /// Load per capacity of a cable.
  [[nodiscard]] double ratio(std::uint32_t cable) const { return set_.load(cable) / graph_.cables[cable].capacity; }
  [[nodiscard]] double most_loaded() const {
    double most = 0;
    for (std::uint32_t c = 0; c < graph_.cables.size(); ++c) most = std::max(most, ratio(c));
    return most;
  }

  SpanningPacking finish() {
    for (std::uint32_t tree = 0; tree < count_; ++tree) set_.centre(tree);
    Shortener(set_, full_).run();
    return {set_.take_trees(), most_loaded()};
  }
  void join(std::uint32_t tree, const std::vector<std::uint32_t>& kept);
  void grow(std::uint32_t tree, double load, bool last);
  void sweep();
  bool grow_again(std::uint32_t tree);
  [[nodiscard]] std::uint32_t too_full(std::uint32_t tree) const;
  bool relieve();
  bool relieve_cable(std::uint32_t cable);
  bool exchange(std::uint32_t last);

  struct Step {
    std::uint32_t from = UINT32_MAX;  // the cable that this one would replace
    std::uint32_t tree = 0;
    std::uint32_t search = 0;
  };

  const CableGraph& graph_;
  TreeSet set_;
  std::uint32_t count_;
  double capacity_ = 0;
  Centre centre_;
  double even_ = 0;   // load per capacity of one tree when all cables share it
  double full_ = 0;   // load per capacity that no cable should exceed
  double limit_ = 0;  // relieve: load per capacity that cables must stay below
  std::vector<Step> steps_;
  std::uint32_t search_ = 0;
  std::uint64_t work_ = 0;
};

/// Prim from the centre. While trees are added the price of a cable is how far this tree would bring it beyond `load`
/// per capacity, and the depth. A `last` tree sees all others: cables that have room first, those near the root first.
void Packer::grow(std::uint32_t tree, double load, bool last) {
  constexpr double kDepthPrice = 2;
  constexpr double kNoRoomPrice = 1e6;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Entry {
    double price;
    std::uint32_t tie;
    std::uint32_t cable;
    bool operator>(const Entry& other) const {
      return int{price > other.price} | (int{price == other.price} & int{tie > other.tie});
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<std::uint32_t> depth(graph_.vertex_count, UINT32_MAX);
  // Per vertex the cheapest entry that waits: a dearer one would come too late.
  std::vector<std::pair<double, std::uint32_t>> cheapest(graph_.vertex_count, {kNever, UINT32_MAX});
  const auto price_of = [&](std::uint32_t cable, std::uint32_t at_depth) {
    const double room = load * graph_.cables[cable].capacity;
    const double surplus = set_.load(cable) + 1 - room;
    if (!last) return surplus + kDepthPrice * at_depth / centre_.eccentricity;
    return (surplus > 0 ? kNoRoomPrice * (1 + surplus) : 0) + at_depth + 0.5 * set_.load(cable) / room;
  };
  const auto reach = [&](std::uint32_t v) {
    for (const auto [cable, to] : set_.around(v)) {
      if (depth[to] != UINT32_MAX) continue;
      const auto tie = static_cast<std::uint32_t>(mixed((std::uint64_t{tree} << 32) + cable));
      const std::pair offer(price_of(cable, depth[v]), tie);
      if (offer >= cheapest[to]) continue;
      cheapest[to] = offer;
      queue.push({offer.first, tie, cable});
    }
  };
  depth[centre_.vertex] = 0;
  reach(centre_.vertex);
  while (!queue.empty()) {
    const std::uint32_t cable = queue.top().cable;
    queue.pop();
    auto [from, to] = std::pair(graph_.cables[cable].a, graph_.cables[cable].b);
    if (depth[from] == UINT32_MAX) std::swap(from, to);
    if (depth[to] != UINT32_MAX) continue;
    depth[to] = depth[from] + 1;
    set_.insert(tree, cable);
    reach(to);
  }
  set_.rebuild(tree, centre_.vertex);
}

/// Adds the emptiest cables that join the pieces of a tree.
void Packer::join(std::uint32_t tree, const std::vector<std::uint32_t>& kept) {
  std::vector<std::uint32_t> piece(graph_.vertex_count);
  std::iota(piece.begin(), piece.end(), 0U);
  const auto head = [&](std::uint32_t v) {
    while (piece[v] != v) v = piece[v] = piece[piece[v]];
    return v;
  };
  const auto unite = [&](std::uint32_t cable) {
    const std::uint32_t a = head(graph_.cables[cable].a);
    const std::uint32_t b = head(graph_.cables[cable].b);
    piece[a] = b;
    return a != b;
  };
  for (const std::uint32_t cable : kept) unite(cable);
  if (kept.size() + 1 < graph_.vertex_count) {
    std::vector<std::uint32_t> order(graph_.cables.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) { return ratio(x) < ratio(y); });
    for (const std::uint32_t cable : order) {
      if (unite(cable)) set_.insert(tree, cable);
    }
  }
  set_.rebuild(tree, centre_.vertex);
}

/// Grows every tree again around the others, a few times while that makes any of them better.
void Packer::sweep() {
  constexpr int kSweepsMax = 6;
  for (int i = 0; i < kSweepsMax; ++i) {
    bool better = false;
    for (std::uint32_t tree = 0; tree < count_; ++tree) better = grow_again(tree) || better;
    if (!better) break;
  }
}

/// Keeps the new tree if it has fewer cables that are too full, or as many and is lower.
bool Packer::grow_again(std::uint32_t tree) {
  const std::pair before(too_full(tree), set_.tree(tree).height);
  const std::vector<std::uint32_t> old = set_.tree(tree).cable;
  const std::uint32_t root = set_.tree(tree).root;
  set_.clear(tree);
  grow(tree, full_, true);
  const std::pair after(too_full(tree), set_.tree(tree).height);
  if (after <= before) return after < before;
  set_.clear(tree);
  for (const std::uint32_t cable : old) {
    if (cable != UINT32_MAX) set_.insert(tree, cable);
  }
  set_.rebuild(tree, root);
  return false;
}

std::uint32_t Packer::too_full(std::uint32_t tree) const {
  std::uint32_t count = 0;
  for (const std::uint32_t cable : set_.tree(tree).cable) count += cable != UINT32_MAX && ratio(cable) > full_ ? 1 : 0;
  return count;
}

/// Relieves every cable that has the largest load per capacity; false when one cannot be.
bool Packer::relieve() {
  limit_ = most_loaded() * (1 - 1e-9);
  steps_.resize(graph_.cables.size());
  for (std::uint32_t c = 0; c < graph_.cables.size(); ++c) {
    while (ratio(c) >= limit_) {
      if (work_ > kExchangeWorkMax || !relieve_cable(c)) return false;
    }
  }
  return true;
}

/// Breadth first from `cable` over what could replace what, to the nearest cable with room.
bool Packer::relieve_cable(std::uint32_t cable) {
  ++search_;
  steps_[cable] = {UINT32_MAX, 0, search_};
  std::vector<std::uint32_t> queue{cable};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t leaving = queue[i];
    for (std::uint32_t tree = 0; tree < count_; ++tree) {
      if (!set_.has(tree, leaving)) continue;
      std::uint32_t found = UINT32_MAX;
      work_ += set_.for_replacements(tree, leaving, [&](std::uint32_t other) {
        if (steps_[other].search == search_) return true;
        steps_[other] = {leaving, tree, search_};
        queue.push_back(other);
        if ((set_.load(other) + 1) / graph_.cables[other].capacity < limit_) found = other;
        return found == UINT32_MAX;
      });
      if (found != UINT32_MAX && exchange(found)) return true;
      if (work_ > kExchangeWorkMax) return false;
    }
  }
  return false;
}

/// Applies the exchanges that lead to `last`; undoes them when a tree falls apart (two of them met in one tree).
bool Packer::exchange(std::uint32_t last) {
  std::vector<std::uint32_t> changed;
  for (std::uint32_t c = last; steps_[c].from != UINT32_MAX; c = steps_[c].from) {
    set_.remove(steps_[c].tree, steps_[c].from);
    set_.insert(steps_[c].tree, c);
    changed.push_back(c);
  }
  bool whole = true;
  for (const std::uint32_t c : changed) whole = whole && set_.rebuild(steps_[c].tree, centre_.vertex);
  if (whole) return true;
  std::reverse(changed.begin(), changed.end());
  for (const std::uint32_t c : changed) {
    set_.remove(steps_[c].tree, c);
    set_.insert(steps_[c].tree, steps_[c].from);
  }
  for (const std::uint32_t c : changed) set_.rebuild(steps_[c].tree, centre_.vertex);
  return false;
}

std::uint32_t tallest(const SpanningPacking& packing) {
  std::uint32_t height = 0;
  for (const PackedTree& tree : packing.trees) height = std::max(height, tree.height);
  return height;
}

double time_per_byte(const SpanningPacking& packing) {
  return packing.load / static_cast<double>(packing.trees.size());
}

/// Time per byte, the filling of the pipeline over the tallest tree included for a vector of some hundred segments.
double cost(const SpanningPacking& packing) {
  constexpr double kSegments = 600;
  return time_per_byte(packing) * (1 + tallest(packing) / kSegments);
}

/// Whether more trees could gain a hundredth at most: all cables are full and no tree is much taller than it must be.
bool good_enough(const CableGraph& graph, const SpanningPacking& packing) {
  double capacity = 0;
  for (const CableGraph::Cable& cable : graph.cables) capacity += cable.capacity;
  const double least = (graph.vertex_count - 1) / capacity;
  const std::uint32_t low = find_centre(TreeSet(graph, 0)).eccentricity;
  return time_per_byte(packing) <= 1.01 * least && 4 * tallest(packing) <= 5 * low + 4;
}

}  // namespace

SpanningPacking pack_spanning_trees(const CableGraph& graph, std::uint32_t count) {
  return Packer(graph, count).pack();
}

SpanningPacking mend_spanning_trees(const CableGraph& graph, const std::vector<std::vector<std::uint32_t>>& kept) {
  return Packer(graph, static_cast<std::uint32_t>(kept.size())).mend(kept);
}

SpanningPacking pack_spanning_trees(const CableGraph& graph) {
  const Evenness evenness(graph);
  std::vector<std::uint32_t> counts{kFewTrees, evenness.roomy_near(kManyTrees)};
  if (graph.cables.size() < kLargeCables) {
    counts.clear();
    for (const std::uint32_t count : kCounts) counts.push_back(evenness.best_near(count));
  }
  SpanningPacking best;
  for (const std::uint32_t count : counts) {
    SpanningPacking next = pack_spanning_trees(graph, count);
    if (best.trees.empty() || cost(next) < cost(best)) best = std::move(next);
    if (good_enough(graph, best)) break;
  }
  return best;
}

}  // namespace hocket

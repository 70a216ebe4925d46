#include "algorithms/parts/shortest_trees.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace hocket {
namespace {

struct Length {
  std::int64_t latency_ps = INT64_MAX;
  std::uint32_t links = UINT32_MAX;
  auto operator<=>(const Length&) const = default;
};

/// The topology with its links turned round when data travel to the roots.
class Network {
 public:
  Network(const Topology& topology, bool reversed) : topology_(topology), reversed_(reversed) {
    for (const Link& link : topology.links()) latency_ps_.push_back(std::llround(link.latency.value * 1e12));
  }

  [[nodiscard]] std::span<const LinkId> out_of(VertexId v) const {
    return reversed_ ? topology_.incoming(v) : topology_.outgoing(v);
  }
  [[nodiscard]] std::span<const LinkId> into(VertexId v) const {
    return reversed_ ? topology_.outgoing(v) : topology_.incoming(v);
  }
  [[nodiscard]] VertexId head(LinkId id) const { return reversed_ ? topology_.link(id).from : topology_.link(id).to; }
  [[nodiscard]] VertexId tail(LinkId id) const { return reversed_ ? topology_.link(id).to : topology_.link(id).from; }
  [[nodiscard]] Length behind(const Length& length, LinkId id) const {
    return {length.latency_ps + latency_ps_[id], length.links + 1};
  }
  [[nodiscard]] bool reversed() const { return reversed_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }

  /// From `start` to every vertex.
  [[nodiscard]] std::vector<Length> lengths_from(VertexId start) const {
    using Entry = std::pair<Length, VertexId>;
    std::vector<Length> lengths(topology_.vertices().size());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    lengths[start] = {0, 0};
    queue.emplace(lengths[start], start);
    while (!queue.empty()) {
      const auto [length, at] = queue.top();
      queue.pop();
      if (length > lengths[at]) continue;
      for (const LinkId id : out_of(at)) {
        const Length next = behind(length, id);
        if (next >= lengths[head(id)]) continue;
        lengths[head(id)] = next;
        queue.emplace(next, head(id));
      }
    }
    return lengths;
  }

 private:
  const Topology& topology_;
  bool reversed_;
  std::vector<std::int64_t> latency_ps_;
};

class TreeGrowth {
 public:
  explicit TreeGrowth(const Network& network)
      : network_(network), topology_(network.topology()), load_(topology_.links().size(), 0) {}

  /// False when some rank cannot be reached.
  bool add(std::uint32_t root) {
    const std::vector<Length> lengths = network_.lengths_from(topology_.vertex_of(root));
    std::vector<std::uint32_t> order;
    for (std::uint32_t rank = 0; rank < topology_.rank_count(); ++rank) {
      if (lengths[topology_.vertex_of(rank)].links == UINT32_MAX) return false;
      if (rank != root) order.push_back(rank);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return lengths[topology_.vertex_of(x)] < lengths[topology_.vertex_of(y)];
    });
    std::vector<std::uint32_t> depth(topology_.rank_count(), 0);
    for (const std::uint32_t child : order) hang(child, lengths, depth);
    ++trees_.count;
    return true;
  }
  [[nodiscard]] Trees take() && { return std::move(trees_); }

 private:
  void hang(std::uint32_t child, const std::vector<Length>& lengths, std::vector<std::uint32_t>& depth) {
    const auto first_link = static_cast<std::uint32_t>(trees_.links.size());
    VertexId at = topology_.vertex_of(child);
    do {
      const LinkId id = emptiest(at, lengths);
      ++load_[id];
      trees_.links.push_back(id);
      at = network_.tail(id);
    } while (topology_.rank_of(at) < 0);
    if (!network_.reversed()) std::reverse(trees_.links.begin() + first_link, trees_.links.end());
    const auto parent = static_cast<std::uint32_t>(topology_.rank_of(at));
    depth[child] = depth[parent] + 1;
    const auto links = static_cast<std::uint32_t>(trees_.links.size()) - first_link;
    trees_.edges.push_back({trees_.count, parent, child, depth[parent], first_link, links});
    trees_.steps = std::max(trees_.steps, depth[child]);
  }

  /// Of the links into a vertex that end a shortest path.
  [[nodiscard]] LinkId emptiest(VertexId at, const std::vector<Length>& lengths) const {
    LinkId best = 0;
    double least = INFINITY;
    for (const LinkId id : network_.into(at)) {
      const Length& before = lengths[network_.tail(id)];
      if (before.links == UINT32_MAX || network_.behind(before, id) != lengths[at]) continue;
      const double load = (load_[id] + 1) / topology_.link(id).bandwidth.value;
      if (load >= least) continue;
      least = load;
      best = id;
    }
    return best;
  }

  const Network& network_;
  const Topology& topology_;
  std::vector<double> load_;  // messages of all trees, per link
  Trees trees_;
};

std::int64_t farthest(const Network& network, std::uint32_t rank) {
  const Topology& topology = network.topology();
  const std::vector<Length> lengths = network.lengths_from(topology.vertex_of(rank));
  std::int64_t most = 0;
  for (const VertexId v : topology.ranks()) most = std::max(most, lengths[v].latency_ps);
  return most;
}

}  // namespace

Result<Trees> shortest_trees(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed) {
  const Network network(topology, reversed);
  TreeGrowth growth(network);
  for (const std::uint32_t root : roots) {
    if (growth.add(root)) continue;
    return fail(Code::kUnsupported, "topology '{}': rank {} and some other rank are not connected", topology.name(),
                root);
  }
  return std::move(growth).take();
}

std::vector<std::uint32_t> central_ranks(const Topology& topology, std::uint32_t count) {
  constexpr std::uint32_t kTriedMax = 256;
  const Network down(topology, false), up(topology, true);
  const std::uint32_t stride = (topology.rank_count() + kTriedMax - 1) / kTriedMax;
  std::vector<std::uint32_t> best;
  std::int64_t least = INT64_MAX;
  for (std::uint32_t rank = 0; rank < topology.rank_count(); rank += stride) {
    const std::int64_t there_and_back = farthest(down, rank) / 2 + farthest(up, rank) / 2;
    if (there_and_back < least) best.clear();
    if (there_and_back > least) continue;
    least = there_and_back;
    best.push_back(rank);
  }
  std::vector<std::uint32_t> spread;
  const std::size_t taken = std::min<std::size_t>(count, best.size());
  for (std::size_t i = 0; i < taken; ++i) spread.push_back(best[i * best.size() / taken]);
  return spread;
}

}  // namespace hocket

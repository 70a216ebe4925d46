#include "algorithms/parts/grower.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/parts/forest.h"

namespace hocket {

GrowthNetwork make_growth_network(const Topology& topology, bool reversed) {
  GrowthNetwork network{.topology = &topology, .reversed = reversed};
  double fastest = 0;
  for (const Link& link : topology.links()) fastest = std::max(fastest, link.bandwidth.value);
  for (const Link& link : topology.links()) {
    const double ticks = std::round(kTicksFastest * fastest / link.bandwidth.value);
    network.ticks.push_back(static_cast<std::int64_t>(std::min(ticks, 1e12)));
  }
  const auto vertices = static_cast<VertexId>(topology.vertices().size());
  for (VertexId v = 0; v < vertices; ++v) {
    network.begin.push_back(static_cast<std::uint32_t>(network.hops.size()));
    bool beside_rank = false;
    for (const LinkId id : reversed ? topology.incoming(v) : topology.outgoing(v)) {
      const VertexId to = reversed ? topology.link(id).from : topology.link(id).to;
      network.hops.push_back({to, id});
      beside_rank = beside_rank || topology.rank_of(to) >= 0;
    }
    std::stable_sort(network.hops.begin() + network.begin.back(), network.hops.end(),
                     [&](const auto& a, const auto& b) { return network.ticks[a.link] < network.ticks[b.link]; });
    network.leaf.push_back(topology.rank_of(v) < 0 && beside_rank);
    network.has_switches = network.has_switches || topology.rank_of(v) < 0;
  }
  network.begin.push_back(static_cast<std::uint32_t>(network.hops.size()));
  return network;
}

Grower::Grower(const GrowthNetwork& network, const GrowthRules& rules, std::span<const std::uint32_t> roots)
    : network_(network),
      topology_(*network.topology),
      rules_(rules),
      growing_(roots.size()),
      next_free_(topology_.links().size(), 0),
      visited_(topology_.vertices().size(), 0) {
  find_clusters();
  const std::uint32_t ranks = topology_.rank_count();
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    Tree& tree = growing_[i];
    tree.root = roots[i];
    tree.missing = ranks - 1;
    tree.members.push_back({roots[i], 0});
    tree.has.assign(ranks, false);
    tree.has[roots[i]] = true;
    tree.entered.assign(topology_.vertices().size(), false);
    tree.entered[cluster_[topology_.vertex_of(roots[i])]] = true;
    if (tree.missing > 0) incomplete_.push_back(i);
  }
  trees_.count = static_cast<std::uint32_t>(roots.size());
  trees_.edges.reserve(roots.size() * (ranks - 1));
}

void Grower::find_clusters() {
  cluster_.resize(topology_.vertices().size());
  std::iota(cluster_.begin(), cluster_.end(), 0U);
  const auto head = [&](VertexId v) {
    while (cluster_[v] != v) v = cluster_[v] = cluster_[cluster_[v]];
    return v;
  };
  if (rules_.enter_once_above != GrowthRules::kNever) {
    for (LinkId id = 0; id < network_.ticks.size(); ++id) {
      if (network_.ticks[id] > rules_.enter_once_above) continue;
      cluster_[head(topology_.link(id).from)] = head(topology_.link(id).to);
    }
  }
  for (VertexId v = 0; v < cluster_.size(); ++v) cluster_[v] = head(v);
}

bool Grower::grow() {
  add_event(0);
  while (!incomplete_.empty()) {
    if (events_.empty()) {
      if (through_leaves_) return false;
      through_leaves_ = true;
      events_.insert(now_);
    }
    now_ = *events_.begin();
    events_.erase(events_.begin());
    last_event_ = -1;
    if (run_turns()) ++step_;
  }
  trees_.steps = std::max(step_, 1U);
  return true;
}

bool Grower::run_turns() {
  const std::size_t start = step_ % growing_.size();
  std::vector<std::uint32_t> turns = incomplete_;
  const auto first = std::lower_bound(turns.begin(), turns.end(), start);
  std::rotate(turns.begin(), first, turns.end());
  for (const std::uint32_t i : turns) {
    Tree& tree = growing_[i];
    tree.cursor = 0;
    if (network_.has_switches) continue;
    std::erase_if(tree.members, [&](const Member& m) { return m.ready <= now_ && exhausted(tree, m.rank); });
  }
  bool attached = false;
  while (!turns.empty()) {
    std::erase_if(turns, [&](std::uint32_t i) { return growing_[i].missing == 0 || !attach_one(i); });
    attached = attached || !turns.empty();
  }
  std::erase_if(incomplete_, [&](std::uint32_t i) { return growing_[i].missing == 0; });
  return attached;
}

bool Grower::exhausted(const Tree& tree, std::uint32_t rank) const {
  const auto hops = network_.outgoing(topology_.vertex_of(rank));
  return std::all_of(hops.begin(), hops.end(),
                     [&](const auto& hop) { return tree.has[static_cast<std::uint32_t>(topology_.rank_of(hop.to))]; });
}

bool Grower::attach_one(std::uint32_t index) {
  Tree& tree = growing_[index];
  turn_tree_ = index;
  for (; tree.cursor < tree.members.size(); ++tree.cursor) {
    const Member& member = tree.members[tree.cursor];
    if (member.ready > now_) continue;
    ++search_;
    path_.clear();
    turn_rank_ = member.rank;
    const VertexId at = topology_.vertex_of(member.rank);
    visited_[at] = search_;
    if (!find_child(tree, at, false, 0)) continue;
    take(index, member.rank);
    return true;
  }
  return false;
}

bool Grower::accepts(const Tree& tree, VertexId vertex, bool slow) const {
  const std::int32_t rank = topology_.rank_of(vertex);
  return rank >= 0 && !tree.has[static_cast<std::uint32_t>(rank)] && !(slow && tree.entered[cluster_[vertex]]);
}

std::size_t Grower::first_hop(std::size_t degree) const {
  switch (rules_.spread) {
    case 1:
      return growing_[turn_tree_].root % degree;
    case 2:
      return turn_rank_ % degree;
    case 3:
      return (turn_rank_ + step_) % degree;
    default:
      return 0;
  }
}

/// Depth first: ranks next to `from`, then what lies behind its switches. `slow`: the path has left a cluster.
bool Grower::find_child(const Tree& tree, VertexId from, bool slow, std::uint32_t depth) {
  const auto hops = network_.outgoing(from);
  const std::size_t first = depth == 0 ? 0 : first_hop(hops.size());
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const auto& hop = hops[(first + i) % hops.size()];
    const bool beyond = slow || network_.ticks[hop.link] > rules_.enter_once_above;
    if (!accepts(tree, hop.to, beyond) || !free(hop.link)) continue;
    path_.push_back(hop.link);
    child_ = static_cast<std::uint32_t>(topology_.rank_of(hop.to));
    return true;
  }
  if (!network_.has_switches || (depth > 1 && network_.leaf[from] && !through_leaves_)) return false;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const auto& hop = hops[(first + i) % hops.size()];
    if (topology_.rank_of(hop.to) >= 0 || visited_[hop.to] == search_ || !free(hop.link)) continue;
    visited_[hop.to] = search_;
    path_.push_back(hop.link);
    if (find_child(tree, hop.to, slow || network_.ticks[hop.link] > rules_.enter_once_above, depth + 1)) return true;
    path_.pop_back();
  }
  return false;
}

void Grower::take(std::uint32_t index, std::uint32_t parent) {
  Tree& tree = growing_[index];
  std::int64_t arrival = now_;
  for (const LinkId link : path_) {
    next_free_[link] = now_ + network_.ticks[link];
    add_event(next_free_[link]);
    arrival = std::max(arrival, next_free_[link]);
  }
  finish_ = std::max(finish_, arrival);
  tree.has[child_] = true;
  tree.entered[cluster_[topology_.vertex_of(child_)]] = true;
  --tree.missing;
  tree.members.push_back({child_, arrival});
  if (network_.reversed) std::reverse(path_.begin(), path_.end());
  trees_.edges.push_back({.tree = index,
                          .parent = parent,
                          .child = child_,
                          .step = step_,
                          .first_link = static_cast<std::uint32_t>(trees_.links.size()),
                          .link_count = static_cast<std::uint32_t>(path_.size())});
  trees_.links.insert(trees_.links.end(), path_.begin(), path_.end());
}

void Grower::add_event(std::int64_t time) {
  if (time == last_event_) return;
  last_event_ = time;
  events_.insert(time);
}

}  // namespace hocket

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
  network.arrival.resize(topology.links().size());
  for (VertexId v = 0; v < vertices; ++v) {
    network.begin.push_back(static_cast<std::uint32_t>(network.hops.size()));
    for (const LinkId id : reversed ? topology.incoming(v) : topology.outgoing(v)) {
      network.hops.push_back({reversed ? topology.link(id).from : topology.link(id).to, id});
    }
    const auto first = network.hops.begin() + network.begin.back();
    std::stable_sort(first, network.hops.end(),
                     [&](const auto& a, const auto& b) { return network.ticks[a.link] < network.ticks[b.link]; });
    const auto middle = std::stable_partition(first, network.hops.end(),
                                              [&](const auto& hop) { return topology.rank_of(hop.to) >= 0; });
    network.leaf.push_back(topology.rank_of(v) < 0 && middle != first);
    network.middle.push_back(static_cast<std::uint32_t>(middle - network.hops.begin()));
    const bool ends = middle - first == 1 && network.hops.end() - middle == 1;
    const bool is_end = topology.rank_of(v) < 0 && ends;
    network.end.push_back(is_end ? first->to : v);
    network.number.push_back(topology.rank_of(v) < 0 && !is_end ? network.numbers++ : 0);
    network.has_switches = network.has_switches || topology.rank_of(v) < 0;
    std::uint32_t numbers[2] = {0, 0};
    for (const LinkId id : reversed ? topology.outgoing(v) : topology.incoming(v)) {
      const VertexId from = reversed ? topology.link(id).to : topology.link(id).from;
      network.arrival[id] = numbers[topology.rank_of(from) >= 0 ? 1 : 0]++;
    }
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
  for (LinkId id = 0; id < next_free_.size(); ++id) {
    if (network_.ticks[id] > rules_.avoid_above) next_free_[id] = GrowthRules::kNever;
  }
  find_clusters();
  const std::uint32_t ranks = topology_.rank_count();
  std::vector<std::uint16_t> hops_to_ranks;
  for (const VertexId v : topology_.ranks()) {
    hops_to_ranks.push_back(static_cast<std::uint16_t>(std::min<std::size_t>(network_.to_ranks(v).size(), 0xffff)));
  }
  if (network_.has_switches) {
    failed_.resize(roots.size() * network_.numbers * kStates, 0);
    find_ways();
  }
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    Tree& tree = growing_[i];
    tree.root = roots[i];
    tree.missing = ranks - 1;
    tree.members.push_back({roots[i], 0});
    tree.has.assign(ranks, false);
    if (!network_.has_switches) tree.open = hops_to_ranks;
    mark_member(tree, roots[i]);
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

void Grower::find_ways() {
  way_of_.resize(topology_.links().size(), kNoWay);
  for (const VertexId at : topology_.ranks()) {
    ways_of_.push_back(static_cast<std::uint32_t>(ways_.size()));
    if (!network_.to_ranks(at).empty()) continue;
    for (const auto& hop : network_.to_others(at)) follow_way(at, hop);
  }
  ways_of_.push_back(static_cast<std::uint32_t>(ways_.size()));
}

void Grower::follow_way(VertexId at, const GrowthNetwork::Hop& hop) {
  Way way{.to = at};
  for (const GrowthNetwork::Hop* next = &hop; next != nullptr;) {
    way.slow = way.slow || network_.ticks[next->link] > rules_.enter_once_above;
    if (network_.ticks[next->link] > rules_.avoid_above) way.free_at = GrowthRules::kNever;
    way_of_[next->link] = static_cast<std::uint32_t>(ways_.size());
    way.next_to = next == &hop;
    const VertexId from = way.to;
    way.to = next->to;
    const auto ranks = network_.to_ranks(way.to);
    const auto others = network_.to_others(way.to);
    next = nullptr;
    if (topology_.rank_of(way.to) >= 0 || ranks.size() + others.size() != 2) break;
    const auto& first = ranks.empty() ? others.front() : ranks.front();
    const auto& second = others.empty() ? ranks.back() : others.back();
    if (first.to == from) next = &second;
    if (second.to == from) next = &first;
  }
  way.to_rank = topology_.rank_of(way.to) >= 0;
  ways_.push_back(way);
}

bool Grower::grow(std::int64_t before) {
  add_event(0);
  while (!incomplete_.empty()) {
    if (finish_ >= before) return false;
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
  return finish_ < before;
}

void Grower::mark_member(Tree& tree, std::uint32_t rank) {
  tree.has[rank] = true;
  if (tree.open.empty()) return;
  const VertexId at = topology_.vertex_of(rank);
  for (const LinkId id : network_.reversed ? topology_.outgoing(at) : topology_.incoming(at)) {
    const VertexId from = network_.reversed ? topology_.link(id).to : topology_.link(id).from;
    --tree.open[static_cast<std::uint32_t>(topology_.rank_of(from))];
  }
}

void Grower::count_free_hops() {
  free_hops_.assign(topology_.vertices().size(), 0);
  for (LinkId id = 0; id < next_free_.size(); ++id) {
    if (free(id)) ++free_hops_[network_.reversed ? topology_.link(id).to : topology_.link(id).from];
  }
}

bool Grower::run_turns() {
  ++instant_;
  count_free_hops();
  const std::size_t start = first_turn();
  std::vector<std::uint32_t> turns = incomplete_;
  const auto first = std::lower_bound(turns.begin(), turns.end(), start);
  std::rotate(turns.begin(), first, turns.end());
  for (const std::uint32_t i : turns) {
    Tree& tree = growing_[i];
    tree.cursor = 0;
    if (network_.has_switches) continue;
    std::erase_if(tree.members, [&](const Member& m) { return tree.open[m.rank] == 0; });
  }
  bool attached = false;
  while (!turns.empty()) {
    std::erase_if(turns, [&](std::uint32_t i) { return growing_[i].missing == 0 || !attach_one(i); });
    attached = attached || !turns.empty();
  }
  std::erase_if(incomplete_, [&](std::uint32_t i) { return growing_[i].missing == 0; });
  return attached;
}

bool Grower::attach_one(std::uint32_t index) {
  Tree& tree = growing_[index];
  turn_tree_ = index;
  for (; tree.cursor < tree.members.size(); ++tree.cursor) {
    const Member& member = tree.members[tree.cursor];
    const VertexId at = topology_.vertex_of(member.rank);
    if (member.ready > now_ || free_hops_[at] == 0 || !may_reach(member.rank)) continue;
    ++search_;
    path_.clear();
    looked_.clear();
    turn_rank_ = member.rank;
    visited_[at] = search_;
    if (!find_child(tree, at, false)) {
      // Links only become busier and trees fuller until the next instant: what failed stays closed.
      for (const std::size_t state : looked_) failed_[state] = instant_;
      continue;
    }
    take(index, member.rank);
    return true;
  }
  return false;
}

bool Grower::may_reach(std::uint32_t rank) const {
  if (ways_.empty() || ways_of_[rank] == ways_of_[rank + 1]) return true;
  for (std::uint32_t i = ways_of_[rank]; i < ways_of_[rank + 1]; ++i) {
    const Way& way = ways_[i];
    if (way.free_at > now_) continue;
    if (way.to_rank || failed_[state_of(way.to, way.slow, way.next_to)] != instant_) return true;
  }
  return false;
}

bool Grower::accepts(const Tree& tree, VertexId vertex, bool slow) const {
  const std::int32_t rank = topology_.rank_of(vertex);
  return rank >= 0 && !tree.has[static_cast<std::uint32_t>(rank)] && !(slow && tree.entered[cluster_[vertex]]);
}

/// A number that looks random and depends on the variation, the time and `place` only.
std::size_t Grower::mixed(std::uint32_t place) const {
  std::uint64_t x = (std::uint64_t{rules_.variation} << 48) ^ (std::uint64_t{step_} << 24) ^ place;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((x ^ (x >> 31)) >> 8);
}

std::size_t Grower::first_turn() const {
  if (rules_.variation == GrowthRules::kAligned) return 0;
  return (rules_.variation == 0 ? step_ : mixed(0xffffffU)) % growing_.size();
}

std::size_t Grower::first_hop(std::size_t degree, bool to_ranks) const {
  if (rules_.variation == 0 || degree < 2) return 0;
  if (rules_.variation != GrowthRules::kAligned) return mixed(turn_rank_) % degree;
  if (path_.empty()) return 0;
  const std::size_t aligned = network_.arrival[path_.back()];
  const bool own_switch = path_.size() == 1;
  if (to_ranks) return (aligned + step_ + (own_switch ? 1 : 0)) % degree;
  return (aligned + (own_switch ? 0 : 1)) % degree;
}

/// Depth first: ranks next to `from`, then what lies behind its switches. `slow`: the path has left a cluster.
bool Grower::find_child(const Tree& tree, VertexId from, bool slow) {
  const auto ranks = network_.to_ranks(from);
  std::size_t place = first_hop(ranks.size(), true);
  for (std::size_t i = 0; i < ranks.size(); ++i, ++place) {
    if (place == ranks.size()) place = 0;
    const auto& hop = ranks[place];
    const bool beyond = slow || network_.ticks[hop.link] > rules_.enter_once_above;
    if (!accepts(tree, hop.to, beyond) || !free(hop.link)) continue;
    path_.push_back(hop.link);
    child_ = static_cast<std::uint32_t>(topology_.rank_of(hop.to));
    return true;
  }
  if (path_.size() > 1 && network_.leaf[from] && !through_leaves_) return false;
  const auto others = network_.to_others(from);
  place = first_hop(others.size(), false);
  for (std::size_t i = 0; i < others.size(); ++i, ++place) {
    if (place == others.size()) place = 0;
    const auto& hop = others[place];
    if (visited_[hop.to] == search_ || !free(hop.link)) continue;
    const bool beyond = slow || network_.ticks[hop.link] > rules_.enter_once_above;
    if (const VertexId end = network_.end[hop.to]; end != hop.to) {
      if (end != from && !accepts(tree, end, beyond)) continue;
    } else {
      const std::size_t state = state_of(hop.to, beyond, path_.empty());
      if (failed_[state] == instant_) continue;
      looked_.push_back(state);
    }
    visited_[hop.to] = search_;
    path_.push_back(hop.link);
    if (find_child(tree, hop.to, beyond)) return true;
    path_.pop_back();
  }
  return false;
}

void Grower::take(std::uint32_t index, std::uint32_t parent) {
  Tree& tree = growing_[index];
  std::int64_t arrival = now_;
  for (const LinkId link : path_) {
    next_free_[link] = now_ + network_.ticks[link];
    --free_hops_[network_.reversed ? topology_.link(link).to : topology_.link(link).from];
    if (!way_of_.empty() && way_of_[link] != kNoWay) {
      std::int64_t& free_at = ways_[way_of_[link]].free_at;
      free_at = std::max(free_at, next_free_[link]);
    }
    add_event(next_free_[link]);
    arrival = std::max(arrival, next_free_[link]);
  }
  finish_ = std::max(finish_, arrival);
  mark_member(tree, child_);
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

#include "algorithms/parts/forest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "algorithms/parts/grower.h"

namespace hocket {
namespace {

/// What to try: for every large gap between link rates the two ways to respect it, and at last no restriction.
std::vector<GrowthRules> rules_to_try(const GrowthNetwork& network) {
  std::vector<std::int64_t> ticks = network.ticks;
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  std::vector<std::pair<double, std::int64_t>> gaps;  // (minus the ratio, slowest tick below the gap)
  for (std::size_t i = 0; i + 1 < ticks.size(); ++i) {
    const double ratio = static_cast<double>(ticks[i + 1]) / static_cast<double>(ticks[i]);
    if (ratio >= 1.4) gaps.emplace_back(-ratio, ticks[i]);
  }
  std::sort(gaps.begin(), gaps.end());
  constexpr std::size_t kGapsMax = 3;
  if (gaps.size() > kGapsMax) gaps.resize(kGapsMax);
  std::vector<GrowthRules> rules;
  for (const auto& [ratio, below] : gaps) {
    rules.push_back({.enter_once_above = below});
    rules.push_back({.avoid_above = below});
  }
  rules.emplace_back();
  return rules;
}

/// No forest finishes sooner: every rank takes in the share of every other root over the links that enter it.
std::int64_t least_finish(const GrowthNetwork& network, std::span<const std::uint32_t> roots) {
  const Topology& topology = *network.topology;
  std::int64_t least = 0;
  for (std::uint32_t rank = 0; rank < topology.rank_count(); ++rank) {
    const VertexId at = topology.vertex_of(rank);
    const std::int64_t shares = std::count_if(roots.begin(), roots.end(), [&](std::uint32_t r) { return r != rank; });
    double rate = 0;
    std::int64_t fastest = GrowthRules::kNever;
    for (const LinkId id : network.reversed ? topology.outgoing(at) : topology.incoming(at)) {
      rate += 1.0 / static_cast<double>(network.ticks[id]);
      fastest = std::min(fastest, network.ticks[id]);
    }
    if (shares == 0) continue;
    const double rounds = std::ceil(static_cast<double>(shares) / rate / static_cast<double>(fastest) - 1e-9);
    least = std::max(least, static_cast<std::int64_t>(rounds) * fastest);
  }
  return least;
}

/// Attachments that may be spent on variations of one set of rules.
constexpr std::size_t kAttachmentsMax = 100000;

}  // namespace

Result<Forest> grow_forest(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed, bool vary) {
  const GrowthNetwork network = make_growth_network(topology, reversed);
  const std::int64_t least = least_finish(network, roots);
  const std::size_t attachments = std::max<std::size_t>(roots.size() * topology.rank_count(), 1);
  Forest best;
  const auto try_rules = [&](const GrowthRules& rules) {
    Grower grower(network, rules, roots);
    if (!grower.grow(best.trees.count > 0 ? best.finish : GrowthRules::kNever)) return false;
    best.finish = grower.finish();
    best.trees = std::move(grower).take_trees();
    return true;
  };
  GrowthRules chosen;
  for (const GrowthRules& rules : rules_to_try(network)) {
    if (try_rules(rules)) chosen = rules;
  }
  const std::size_t affordable = std::min<std::size_t>(kAttachmentsMax / attachments, 64);
  const auto variations = static_cast<std::uint32_t>(std::max<std::size_t>(affordable, network.has_switches ? 1 : 0));
  if (!vary && best.trees.count > 0) return best;
  for (chosen.variation = 1; chosen.variation <= variations && best.finish > least; ++chosen.variation) {
    try_rules(chosen);
  }
  if (best.trees.count == 0) {
    return fail(Code::kUnsupported, "topology '{}': some rank cannot reach every other rank", topology.name());
  }
  return best;
}

std::vector<LinkId> twin_links(const Topology& topology) {
  using Key = std::tuple<VertexId, VertexId, double>;
  std::map<Key, std::vector<LinkId>> by_ends;
  const auto links = topology.links();
  for (LinkId id = 0; id < links.size(); ++id) {
    by_ends[{links[id].from, links[id].to, links[id].bandwidth.value}].push_back(id);
  }
  std::vector<LinkId> twins(links.size());
  for (const auto& [key, ids] : by_ends) {
    const auto& [from, to, rate] = key;
    const auto other = by_ends.find({to, from, rate});
    if (other == by_ends.end() || other->second.size() < ids.size()) return {};
    for (std::size_t i = 0; i < ids.size(); ++i) twins[ids[i]] = other->second[i];
  }
  return twins;
}

Trees twin_trees(const Topology& topology, const Trees& trees) {
  const std::vector<LinkId> twins = twin_links(topology);
  if (twins.empty()) return {};
  Trees result = trees;
  for (const TreeEdge& edge : trees.edges) {
    for (std::uint32_t i = 0; i < edge.link_count; ++i) {
      result.links[edge.first_link + i] = twins[trees.links[edge.first_link + edge.link_count - 1 - i]];
    }
  }
  return result;
}

}  // namespace hocket

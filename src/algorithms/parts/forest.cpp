#include "algorithms/parts/forest.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "algorithms/parts/grower.h"

namespace hocket {
namespace {

/// What to try: no restriction first, then for every large gap between link rates the two ways to respect it.
std::vector<GrowthRules> rules_to_try(const GrowthNetwork& network, std::size_t roots) {
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
  std::vector<GrowthRules> rules{GrowthRules{}};
  for (const auto& [ratio, below] : gaps) {
    rules.push_back({.enter_once_above = below});
    rules.push_back({.avoid_above = below});
  }
  constexpr std::size_t kSpreadRootsMax = 512;
  if (network.has_switches && roots <= kSpreadRootsMax) {
    for (std::size_t i = 0, plain = rules.size(); i < plain; ++i) {
      for (const std::uint32_t spread : {1U, 2U, 3U}) {
        rules.push_back(rules[i]);
        rules.back().spread = spread;
      }
    }
  }
  return rules;
}

}  // namespace

Result<Forest> grow_forest(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed) {
  const GrowthNetwork network = make_growth_network(topology, reversed);
  Forest best;
  for (const GrowthRules& rules : rules_to_try(network, roots.size())) {
    Grower grower(network, rules, roots);
    if (!grower.grow()) continue;
    if (best.trees.count == 0 || grower.finish() < best.finish) {
      best.finish = grower.finish();
      best.trees = std::move(grower).take_trees();
    }
  }
  if (best.trees.count == 0) {
    return fail(Code::kUnsupported, "topology '{}': some rank cannot reach every other rank", topology.name());
  }
  return best;
}

Trees twin_trees(const Topology& topology, const Trees& trees) {
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
  Trees result = trees;
  for (const TreeEdge& edge : trees.edges) {
    for (std::uint32_t i = 0; i < edge.link_count; ++i) {
      result.links[edge.first_link + i] = twins[trees.links[edge.first_link + edge.link_count - 1 - i]];
    }
  }
  return result;
}

}  // namespace hocket

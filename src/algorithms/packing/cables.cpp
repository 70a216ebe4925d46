#include "algorithms/packing/cables.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace hocket {
namespace {

/// Links sorted by (from, to), fastest first.
std::vector<LinkId> by_ends(const Topology& topology) {
  std::vector<LinkId> order(topology.links().size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](LinkId id) {
    const Link& link = topology.link(id);
    return std::tuple(link.from, link.to, -link.bandwidth.value, id);
  };
  std::sort(order.begin(), order.end(), [&](LinkId x, LinkId y) { return key(x) < key(y); });
  return order;
}

}  // namespace

Cables pair_links(const Topology& topology) {
  const std::vector<LinkId> order = by_ends(topology);
  const auto ends_below = [&](LinkId id, std::pair<VertexId, VertexId> ends) {
    return std::pair(topology.link(id).from, topology.link(id).to) < ends;
  };
  Cables cables;
  cables.graph.vertex_count = topology.rank_count();
  for (std::size_t i = 0; i < order.size();) {
    const Link& first = topology.link(order[i]);
    const auto back = std::lower_bound(order.begin(), order.end(), std::pair(first.to, first.from), ends_below);
    std::size_t j = static_cast<std::size_t>(back - order.begin());
    const auto joins = [&](std::size_t at, VertexId from, VertexId to) {
      return at < order.size() && topology.link(order[at]).from == from && topology.link(order[at]).to == to;
    };
    for (; joins(i, first.from, first.to); ++i) {
      if (first.from > first.to || !joins(j, first.to, first.from)) continue;
      const double rate = std::min(topology.link(order[i]).bandwidth.value, topology.link(order[j]).bandwidth.value);
      cables.graph.cables.push_back({static_cast<std::uint32_t>(topology.rank_of(first.from)),
                                     static_cast<std::uint32_t>(topology.rank_of(first.to)), rate});
      cables.from_a.push_back(order[i]);
      cables.from_b.push_back(order[j++]);
    }
  }
  return cables;
}

bool cables_connect(const Topology& topology) {
  const Cables cables = pair_links(topology);
  std::vector<std::uint32_t> group(cables.graph.vertex_count);
  std::iota(group.begin(), group.end(), 0U);
  const auto head = [&](std::uint32_t v) {
    while (group[v] != v) v = group[v] = group[group[v]];
    return v;
  };
  std::uint32_t groups = cables.graph.vertex_count;
  for (const CableGraph::Cable& cable : cables.graph.cables) {
    const std::uint32_t a = head(cable.a);
    const std::uint32_t b = head(cable.b);
    if (a == b) continue;
    group[a] = b;
    --groups;
  }
  return groups == 1;
}

Trees trees_of(const SpanningPacking& packing, const Cables& cables, bool up) {
  Trees trees;
  for (std::uint32_t t = 0; t < packing.trees.size(); ++t) {
    const PackedTree& tree = packing.trees[t];
    for (const std::uint32_t v : tree.order) {
      if (v == tree.root) continue;
      trees.add(t, tree.parent[v], v, tree.depth[v] - 1);
      trees.edges.back().first_link = static_cast<std::uint32_t>(trees.links.size());
      trees.edges.back().link_count = 1;
      const bool a_sends = (cables.graph.cables[tree.cable[v]].a == v) == up;
      trees.links.push_back(a_sends ? cables.from_a[tree.cable[v]] : cables.from_b[tree.cable[v]]);
    }
  }
  return trees;
}

}  // namespace hocket

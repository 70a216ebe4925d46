#include "algorithms/packing/tree_set.h"

#include <algorithm>
#include <numeric>

namespace hocket {

TreeSet::TreeSet(const CableGraph& graph, std::uint32_t trees)
    : graph_(graph),
      begin_(graph.vertex_count + 1, 0),
      incident_(2 * graph.cables.size()),
      has_(std::size_t{trees} * graph.cables.size(), 0),
      load_(graph.cables.size(), 0),
      trees_(trees),
      mark_(graph.vertex_count, 0) {
  for (const CableGraph::Cable& cable : graph.cables) ++begin_[cable.a + 1], ++begin_[cable.b + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t c = 0; c < graph.cables.size(); ++c) {
    const auto& [a, b, capacity] = graph.cables[c];
    incident_[next[a]++] = {c, b};
    incident_[next[b]++] = {c, a};
  }
}

void TreeSet::insert(std::uint32_t tree, std::uint32_t cable) {
  has_[std::size_t{tree} * graph_.cables.size() + cable] = 1;
  ++load_[cable];
}

void TreeSet::remove(std::uint32_t tree, std::uint32_t cable) {
  has_[std::size_t{tree} * graph_.cables.size() + cable] = 0;
  --load_[cable];
}

void TreeSet::clear(std::uint32_t tree) {
  for (const std::uint32_t cable : trees_[tree].cable) {
    if (cable != UINT32_MAX) remove(tree, cable);
  }
}

bool TreeSet::rebuild(std::uint32_t tree, std::uint32_t root) {
  PackedTree& t = trees_[tree];
  t.root = root;
  t.parent.assign(graph_.vertex_count, UINT32_MAX);
  t.cable.assign(graph_.vertex_count, UINT32_MAX);
  t.depth.assign(graph_.vertex_count, 0);
  t.order.resize(graph_.vertex_count);
  t.order[0] = root;
  t.parent[root] = root;
  const char* const has = &has_[std::size_t{tree} * graph_.cables.size()];
  std::size_t found = 1;
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint32_t v = t.order[i];
    for (const auto [cable, to] : around(v)) {
      if (has[cable] == 0 || t.parent[to] != UINT32_MAX) continue;
      t.parent[to] = v;
      t.cable[to] = cable;
      t.depth[to] = t.depth[v] + 1;
      t.order[found++] = to;
    }
  }
  t.order.resize(found);
  t.height = t.depth[t.order.back()];
  return found == graph_.vertex_count;
}

void TreeSet::mark_below(const PackedTree& tree, std::uint32_t top) {
  ++marks_;
  below_.assign(1, top);
  mark_[top] = marks_;
  for (std::size_t i = 0; i < below_.size(); ++i) {
    for (const auto [c, to] : around(below_[i])) {
      if (tree.cable[to] != c || tree.parent[to] != below_[i]) continue;
      mark_[to] = marks_;
      below_.push_back(to);
    }
  }
}

void TreeSet::distances_from(std::uint32_t vertex, std::vector<std::uint32_t>& distances) const {
  distances.assign(graph_.vertex_count, UINT32_MAX);
  distances[vertex] = 0;
  std::vector<std::uint32_t> queue{vertex};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto [cable, to] : around(queue[i])) {
      if (distances[to] != UINT32_MAX) continue;
      distances[to] = distances[queue[i]] + 1;
      queue.push_back(to);
    }
  }
}

std::uint32_t TreeSet::farthest_in(std::uint32_t tree, std::uint32_t from) {
  rebuild(tree, from);
  return trees_[tree].order.back();
}

void TreeSet::centre(std::uint32_t tree) {
  const std::uint32_t one_end = farthest_in(tree, trees_[tree].root);
  std::uint32_t middle = farthest_in(tree, one_end);
  for (std::uint32_t up = trees_[tree].height / 2; up > 0; --up) middle = trees_[tree].parent[middle];
  rebuild(tree, middle);
}

}  // namespace hocket

// TreeSet: several spanning trees of one graph while they are built and changed cable by cable.
// Knows which cables each tree has, how many trees each cable carries, and each tree's parents after rebuild().
// Ownership: keeps a reference to the graph. Threading: one owner.
// Refuses: nothing; has(), parents and replacements are meaningful only as documented.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/packing/spanning_packing.h"

namespace hocket {

class TreeSet {
 public:
  TreeSet(const CableGraph& graph, std::uint32_t trees);

  [[nodiscard]] const CableGraph& graph() const { return graph_; }
  /// A cable as one of its ends sees it.
  struct Reach {
    std::uint32_t cable = 0;
    std::uint32_t to = 0;
  };
  [[nodiscard]] std::span<const Reach> around(std::uint32_t vertex) const {
    return std::span(incident_).subspan(begin_[vertex], begin_[vertex + 1] - begin_[vertex]);
  }
  [[nodiscard]] bool has(std::uint32_t tree, std::uint32_t cable) const {
    return has_[std::size_t{tree} * graph_.cables.size() + cable] != 0;
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(trees_.size()); }
  /// The tree as it was rebuilt last.
  [[nodiscard]] const PackedTree& tree(std::uint32_t tree) const { return trees_[tree]; }
  [[nodiscard]] double load(std::uint32_t cable) const { return load_[cable]; }

  void insert(std::uint32_t tree, std::uint32_t cable);
  void remove(std::uint32_t tree, std::uint32_t cable);
  /// Removes all cables of a tree that was rebuilt.
  void clear(std::uint32_t tree);
  /// Follows the tree's cables from `root`; false when they do not span the graph.
  bool rebuild(std::uint32_t tree, std::uint32_t root);

  /// Calls `visit(cable)` for the cables that would join the tree again without `leaving`, until it says false. Needs
  /// the tree's parents. Returns the number of cables looked at.
  template <class Visit>
  std::uint64_t for_replacements(std::uint32_t tree, std::uint32_t leaving, Visit&& visit);

  /// Number of cables to every vertex.
  void distances_from(std::uint32_t vertex, std::vector<std::uint32_t>& distances) const;
  /// Roots the tree at its own centre.
  void centre(std::uint32_t tree);
  [[nodiscard]] std::vector<PackedTree> take_trees() { return std::move(trees_); }

 private:
  /// Marks the vertices below `top` with the current mark and lists them in below_.
  void mark_below(const PackedTree& tree, std::uint32_t top);
  [[nodiscard]] std::uint32_t farthest_in(std::uint32_t tree, std::uint32_t from);

  const CableGraph& graph_;
  std::vector<std::uint32_t> begin_;
  std::vector<Reach> incident_;
  std::vector<char> has_;
  std::vector<double> load_;
  std::vector<PackedTree> trees_;
  std::vector<std::uint32_t> mark_, below_;
  std::uint32_t marks_ = 0;
};

template <class Visit>
std::uint64_t TreeSet::for_replacements(std::uint32_t tree, std::uint32_t leaving, Visit&& visit) {
  const PackedTree& t = trees_[tree];
  const CableGraph::Cable& cable = graph_.cables[leaving];
  const std::uint32_t top = t.parent[cable.a] == cable.b && t.cable[cable.a] == leaving ? cable.a : cable.b;
  mark_below(t, top);
  std::uint64_t looked = below_.size();
  for (const std::uint32_t v : below_) {
    for (const auto [c, to] : around(v)) {
      ++looked;
      if (c == leaving || mark_[to] == marks_) continue;
      if (!visit(c)) return looked;
    }
  }
  return looked;
}

}  // namespace hocket

// Symmetric trees: one tree that stands for a tree per rank, on networks that look the same from every vertex. A vertex
// r has the tree that is vertex 0's, moved by r; a link of a class in vertex 0's tree is then, over all ranks, every
// link of that class once. Planning, proof and memory grow with the number of vertices, not with its square. grow:
// MultiTree (Huang et al., ISCA 2021, section III) for all roots at once: an attachment over a link of a class, by the
// tree of vertex 0, is the same attachment of all trees, so a class is taken once per time step. Threading: pure
// functions. Refuses (prove): what it cannot show, by name.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/packing/translations.h"
#include "algorithms/parts/trees.h"
#include "base/result.h"

namespace hocket {

struct SymmetricTree {
  struct Edge {
    std::uint32_t parent = 0;  // as seen from the root
    std::uint32_t child = 0;
    std::uint32_t cls = 0;   // of the link from parent to child
    std::uint32_t step = 0;  // a child forwards in a later one
  };
  std::uint32_t steps = 0;
  std::vector<Edge> edges;  // by step
};

[[nodiscard]] SymmetricTree grow_symmetric_tree(const Translations& translations);

/// That the tree and its copies are a plan, from links alone: the links of every class are a permutation of the
/// vertices at one rate, these permutations commute, and following them along the tree from vertex 0 reaches every
/// vertex once, parents first. Permutations that commute and reach everything from one vertex form a group in which
/// exactly one element takes 0 to r; it maps the tree of 0, link by link, onto one of r. With `one_per_step` also that
/// no step uses a class twice, so that no link carries two messages in a step.
[[nodiscard]] Result<void> prove_symmetric(const Topology& topology, const Translations& translations,
                                           const SymmetricTree& tree, bool one_per_step);

/// All trees, tree r with root r: for networks of few ranks. With `reversed` links run from child to parent.
[[nodiscard]] Trees all_copies(const Translations& translations, const SymmetricTree& tree, bool reversed);

}  // namespace hocket

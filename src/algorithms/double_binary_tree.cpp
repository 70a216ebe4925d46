// Two binary trees, half of the vector on each (Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", Parallel Computing 2009, section 3). A rank that is a leaf of one tree forwards in
// the other, so that every rank sends and receives about as much. The first tree is in order of the ranks; the second
// is its mirror image (even number of ranks) or the first shifted by one. Six ranks:
//          3             2
//        1   5         0   4         broadcast and reduce put their root above both trees of the other ranks
//       0 2 4         1 3 5
#include "algorithms/algorithm.h"
#include "algorithms/parts/trees.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  return is_blocked(kind) ? fmt::format("it does not do {}", name_of(kind)) : "";
}

/// Nodes 1 .. size in order; the lowest bit set in a number is its height. Returns 0 for the root.
std::uint32_t parent_in_order(std::uint32_t node, std::uint32_t size) {
  const std::uint32_t bit = node & ~(node - 1);
  const std::uint32_t lower = node & ~bit;
  const std::uint32_t upper = lower | bit << 1;
  return upper <= size ? upper : lower;
}

class TreeWriter {
 public:
  TreeWriter(Trees& trees, std::uint32_t size) : trees_(trees), children_(size + 1) {
    for (std::uint32_t node = 1; node <= size; ++node) {
      const std::uint32_t parent = parent_in_order(node, size);
      children_[parent].push_back(node);
    }
  }
  [[nodiscard]] std::uint32_t root() const { return children_[0].front(); }

  /// Adds the edges below `node`, whose share arrives before `step`. `rank_of` names the rank of a node.
  template <class RankOf>
  void write(std::uint32_t tree, std::uint32_t node, std::uint32_t step, const RankOf& rank_of) {
    for (const std::uint32_t child : children_[node]) {
      trees_.add(tree, rank_of(node), rank_of(child), step++);
      write(tree, child, step, rank_of);
    }
  }

 private:
  Trees& trees_;
  std::vector<std::vector<std::uint32_t>> children_;  // of node 0: the root
};

Trees two_trees(const Collective& collective) {
  const bool rooted = is_rooted(collective.kind);
  const std::uint32_t size = rooted ? collective.ranks - 1 : collective.ranks;
  Trees trees;
  TreeWriter writer(trees, size);
  for (const std::uint32_t tree : {0U, 1U}) {
    const auto rank_of = [&](std::uint32_t node) {
      std::uint32_t position = node - 1;
      if (tree == 1) position = size % 2 == 0 ? size - node : node % size;
      return rooted ? (collective.root + 1 + position) % collective.ranks : position;
    };
    if (rooted) trees.add(tree, collective.root, rank_of(writer.root()), 0);
    writer.write(tree, writer.root(), rooted ? 1 : 0, rank_of);
  }
  return trees;
}

Result<Schedule> plan(const PlanRequest& request) {
  const Trees trees = two_trees(request.collective);
  return schedule_trees(request.collective, {.up = trees, .down = trees, .pieces_per_tree = kPipelinePieces},
                        "double_binary_tree");
}

}  // namespace

extern const Algorithm algorithm_double_binary_tree{
    .name = "double_binary_tree",
    .description = "two complementary binary trees, half of the vector on each",
    .source = "Sanders, Speck and Traff, Parallel Computing 2009, section 3",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// Shortener: makes the tallest trees of a set lower without loading any cable beyond a limit.
// A branch of the tallest tree moves to a vertex nearer to the root. Where the cable it needs is full, another tree
// gives it up and hangs its own branch elsewhere, as long as that one stays lower than the tallest. Ownership: changes
// the set it was given. Threading: one owner. Refuses: nothing; trees must be rebuilt.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/packing/tree_set.h"

namespace hocket {

class Shortener {
 public:
  /// `load`: trees per capacity that a cable may carry.
  Shortener(TreeSet& set, double load) : set_(set), load_(load * (1 + 1e-9)), stuck_(set.count(), false) {}

  void run();

 private:
  struct Move {
    std::uint32_t gain = 0;
    std::uint32_t leaving = 0;
    std::uint32_t joining = 0;
  };
  struct Shape {
    std::uint32_t height = 0;
    std::size_t deepest = 0;  // vertices
    auto operator<=>(const Shape&) const = default;
  };

  [[nodiscard]] bool has_room(std::uint32_t cable) const {
    return (set_.load(cable) + 1) / set_.graph().cables[cable].capacity <= load_;
  }
  bool shorten(std::uint32_t tree);
  [[nodiscard]] static Shape shape_of(const PackedTree& tree);
  /// What the tree would be with `joining` in the place of `leaving`.
  [[nodiscard]] Shape shape_after(std::uint32_t tree, std::uint32_t leaving, std::uint32_t joining);
  [[nodiscard]] std::uint32_t branch_behind(const PackedTree& tree, std::uint32_t cable) const;
  [[nodiscard]] std::vector<Move> moves_of(const PackedTree& tree);
  bool displace(std::uint32_t keeper, const Move& move);
  std::vector<std::uint32_t> replacements(std::uint32_t tree, std::uint32_t leaving);
  void exchange(std::uint32_t tree, std::uint32_t leaving, std::uint32_t cable);
  const std::vector<std::uint32_t>& mark_branch(const PackedTree& tree, std::uint32_t branch);

  TreeSet& set_;
  double load_;
  std::vector<bool> stuck_;
  std::vector<std::uint32_t> branch_;
  std::vector<std::uint32_t> on_path_;  // from the root to the deepest vertex, marked with path_
  std::uint32_t path_ = 0;
  std::vector<std::uint32_t> inside_;  // vertices of the branch, marked with marks_
  std::uint32_t marks_ = 0;
  std::vector<std::uint32_t> new_depth_;  // of the vertices of the branch
  std::uint32_t height_max_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace hocket

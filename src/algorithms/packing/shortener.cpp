#include "algorithms/packing/shortener.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::uint64_t kWorkMax = 4'000'000;  // vertices visited
constexpr std::size_t kWaysMax = 4;            // places tried for a displaced branch
constexpr std::size_t kMovesMax = 32;          // places tried for a branch of the tallest tree
constexpr std::uint32_t kOthersMax = 1;        // trees that may change for one move

}  // namespace

void Shortener::run() {
  inside_.assign(set_.graph().vertex_count, 0);
  on_path_.assign(set_.graph().vertex_count, 0);
  while (work_ < kWorkMax) {
    std::uint32_t tallest = set_.count();
    for (std::uint32_t t = 0; t < set_.count(); ++t) {
      if (stuck_[t]) continue;
      if (tallest == set_.count() || set_.tree(t).height > set_.tree(tallest).height) tallest = t;
    }
    if (tallest == set_.count()) break;
    stuck_[tallest] = !shorten(tallest);
  }
}

/// One move that brings the deepest vertex nearer to the root and no other farther than it was.
bool Shortener::shorten(std::uint32_t tree) {
  const PackedTree& t = set_.tree(tree);
  const std::vector<Move> moves = moves_of(t);
  const std::pair deepest(t.height, count_deepest(t));
  height_max_ = t.height - 1;
  for (std::uint32_t others = 0; others <= kOthersMax; ++others) {
    std::size_t tried = 0;
    for (const Move& move : moves) {
      if (others == 0 && !has_room(move.joining)) continue;
      if (++tried > kMovesMax) break;
      exchange(tree, move.leaving, move.joining);
      const bool better = std::pair(t.height, count_deepest(t)) < deepest;
      if (better && (fits(move.joining) || (others > 0 && displace(tree, move.joining, others)))) return true;
      exchange(tree, move.joining, move.leaving);
      if (work_ > kWorkMax) return false;
    }
  }
  return false;
}

std::size_t Shortener::count_deepest(const PackedTree& tree) {
  const auto last = std::find_if(tree.order.rbegin(), tree.order.rend(),
                                 [&](std::uint32_t v) { return tree.depth[v] < tree.height; });
  return static_cast<std::size_t>(last - tree.order.rbegin());
}

/// A branch above the deepest vertex is hung elsewhere, by any of its vertices; best for the deepest vertex first.
std::vector<Shortener::Move> Shortener::moves_of(const PackedTree& tree) {
  const std::uint32_t deepest = tree.order.back();
  std::vector<Move> moves;
  ++path_;
  for (std::uint32_t v = deepest;; v = tree.parent[v]) {
    on_path_[v] = path_;
    if (v == tree.root) break;
  }
  for (std::uint32_t top = deepest; top != tree.root; top = tree.parent[top]) {
    for (const std::uint32_t v : mark_branch(tree, top)) {
      // Way from v to the deepest vertex: up to where the two part, then down.
      std::uint32_t meet = v;
      while (on_path_[meet] != path_) meet = tree.parent[meet];
      const std::uint32_t way = tree.depth[v] - tree.depth[meet] + tree.depth[deepest] - tree.depth[meet];
      for (const std::uint32_t cable : set_.around(v)) {
        const std::uint32_t to = set_.other_end(cable, v);
        if (cable == tree.cable[top] || inside_[to] == marks_) continue;
        const std::uint32_t depth = tree.depth[to] + 1 + way;
        if (depth < tree.height) moves.push_back({tree.height - depth, tree.cable[top], cable});
      }
    }
  }
  std::stable_sort(moves.begin(), moves.end(), [](const Move& x, const Move& y) { return x.gain > y.gain; });
  return moves;
}

/// Takes `cable`, which carries one tree too many, from a tree other than `keeper`, and what that tree uses instead
/// from a third one if need be. All trees stay within height_max_.
bool Shortener::displace(std::uint32_t keeper, std::uint32_t cable, std::uint32_t others) {
  for (std::uint32_t tree = 0; tree < set_.count(); ++tree) {
    if (tree == keeper || !set_.has(tree, cable)) continue;
    for (const std::uint32_t other : replacements(tree, cable, others > 1)) {
      exchange(tree, cable, other);
      const bool low = set_.tree(tree).height <= height_max_;
      if (low && (fits(other) || (others > 1 && displace(tree, other, others - 1)))) return true;
      exchange(tree, other, cable);
      if (work_ > kWorkMax) return false;
    }
  }
  return false;
}

/// A few cables that could hang the branch behind `leaving` elsewhere, those that keep it low first; full ones only
/// when `full_too`.
std::vector<std::uint32_t> Shortener::replacements(std::uint32_t tree, std::uint32_t leaving, bool full_too) {
  const PackedTree& t = set_.tree(tree);
  const CableGraph::Cable& ends = set_.graph().cables[leaving];
  const std::uint32_t branch = t.parent[ends.a] == ends.b && t.cable[ends.a] == leaving ? ends.a : ends.b;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;  // (estimate of the depth, cable)
  for (const std::uint32_t v : mark_branch(t, branch)) {
    for (const std::uint32_t cable : set_.around(v)) {
      const std::uint32_t to = set_.other_end(cable, v);
      if (cable == leaving || inside_[to] == marks_ || (!full_too && !has_room(cable))) continue;
      const std::uint32_t depth = t.depth[to] + 1 + t.depth[v] - t.depth[branch];
      if (depth <= height_max_) ways.emplace_back(depth, cable);
    }
  }
  std::sort(ways.begin(), ways.end());
  if (ways.size() > kWaysMax) ways.resize(kWaysMax);
  std::vector<std::uint32_t> cables;
  cables.reserve(ways.size());
  for (const auto& [depth, cable] : ways) cables.push_back(cable);
  return cables;
}

void Shortener::exchange(std::uint32_t tree, std::uint32_t leaving, std::uint32_t cable) {
  set_.remove(tree, leaving);
  set_.insert(tree, cable);
  set_.rebuild(tree, set_.tree(tree).root);
  work_ += set_.graph().vertex_count;
}

/// The vertices of the branch, by depth.
const std::vector<std::uint32_t>& Shortener::mark_branch(const PackedTree& tree, std::uint32_t branch) {
  ++marks_;
  inside_[branch] = marks_;
  branch_.assign(1, branch);
  for (std::size_t i = 0; i < branch_.size(); ++i) {
    for (const std::uint32_t c : set_.around(branch_[i])) {
      const std::uint32_t to = set_.other_end(c, branch_[i]);
      if (tree.cable[to] != c || tree.parent[to] != branch_[i]) continue;
      inside_[to] = marks_;
      branch_.push_back(to);
    }
  }
  work_ += branch_.size();
  return branch_;
}

}  // namespace hocket

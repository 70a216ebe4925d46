#include "algorithms/packing/shortener.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::uint64_t kWorkMax = 1'500'000;  // vertices visited
constexpr std::size_t kWaysMax = 4;            // places tried for a displaced branch
constexpr std::size_t kMovesMax = 32;          // places tried for a branch of the tallest tree

}  // namespace

void Shortener::run() {
  inside_.assign(set_.graph().vertex_count, 0);
  on_path_.assign(set_.graph().vertex_count, 0);
  new_depth_.assign(set_.graph().vertex_count, 0);
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

/// One move that brings the deepest vertex nearer to the root and no other farther than it was; where there is none
/// with room, one for which another tree gives up the cable.
bool Shortener::shorten(std::uint32_t tree) {
  const PackedTree& t = set_.tree(tree);
  const std::vector<Move> moves = moves_of(t);
  const Shape shape = shape_of(t);
  height_max_ = t.height - 1;
  for (const bool displacing : {false, true}) {
    std::size_t tried = 0;
    for (const Move& move : moves) {
      const bool room = has_room(move.joining);
      if (!displacing && !room) continue;
      if (++tried > kMovesMax || work_ > kWorkMax) break;
      if (!(shape_after(tree, move.leaving, move.joining) < shape)) continue;
      if (room) {
        exchange(tree, move.leaving, move.joining);
        return true;
      }
      if (displace(tree, move)) return true;
    }
  }
  return false;
}

Shortener::Shape Shortener::shape_of(const PackedTree& tree) {
  const auto last = std::find_if(tree.order.rbegin(), tree.order.rend(),
                                 [&](std::uint32_t v) { return tree.depth[v] < tree.height; });
  return {tree.height, static_cast<std::size_t>(last - tree.order.rbegin())};
}

/// Looks at the branch that moves and at the deepest vertices outside it only.
Shortener::Shape Shortener::shape_after(std::uint32_t tree, std::uint32_t leaving, std::uint32_t joining) {
  const PackedTree& t = set_.tree(tree);
  mark_branch(t, branch_behind(t, leaving));
  Shape shape;
  for (auto v = t.order.rbegin(); v != t.order.rend() && (shape.deepest == 0 || t.depth[*v] == shape.height); ++v) {
    ++work_;
    if (inside_[*v] != marks_) shape = {t.depth[*v], shape.deepest + 1};
  }
  const CableGraph::Cable& ends = set_.graph().cables[joining];
  const bool a_inside = inside_[ends.a] == marks_;
  const std::uint32_t hung = a_inside ? ends.a : ends.b;
  new_depth_[hung] = t.depth[a_inside ? ends.b : ends.a] + 1;
  branch_.assign(1, hung);
  inside_[hung] = 0;
  for (std::size_t i = 0; i < branch_.size(); ++i) {
    const std::uint32_t depth = new_depth_[branch_[i]];
    if (depth > shape.height) shape = {depth, 0};
    if (depth == shape.height) ++shape.deepest;
    for (const auto [cable, to] : set_.around(branch_[i])) {
      if (inside_[to] != marks_ || !set_.has(tree, cable)) continue;
      inside_[to] = 0;
      new_depth_[to] = depth + 1;
      branch_.push_back(to);
    }
  }
  work_ += branch_.size();
  return shape;
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
      for (const auto [cable, to] : set_.around(v)) {
        if (cable == tree.cable[top] || inside_[to] == marks_) continue;
        const std::uint32_t depth = tree.depth[to] + 1 + way;
        if (depth < tree.height) moves.push_back({tree.height - depth, tree.cable[top], cable});
      }
    }
  }
  std::stable_sort(moves.begin(), moves.end(), [](const Move& x, const Move& y) { return x.gain > y.gain; });
  return moves;
}

/// Makes a move whose cable is full: another tree hangs the branch behind that cable elsewhere. All trees stay within
/// height_max_.
bool Shortener::displace(std::uint32_t keeper, const Move& move) {
  set_.remove(keeper, move.leaving);
  set_.insert(keeper, move.joining);
  for (std::uint32_t tree = 0; tree < set_.count(); ++tree) {
    if (tree == keeper || !set_.has(tree, move.joining)) continue;
    for (const std::uint32_t other : replacements(tree, move.joining)) {
      if (shape_after(tree, move.joining, other).height > height_max_) continue;
      exchange(tree, move.joining, other);
      set_.rebuild(keeper, set_.tree(keeper).root);
      return true;
    }
  }
  set_.remove(keeper, move.joining);
  set_.insert(keeper, move.leaving);
  return false;
}

std::uint32_t Shortener::branch_behind(const PackedTree& tree, std::uint32_t cable) const {
  const CableGraph::Cable& ends = set_.graph().cables[cable];
  return tree.parent[ends.a] == ends.b && tree.cable[ends.a] == cable ? ends.a : ends.b;
}

/// A few cables with room that could hang the branch behind `leaving` elsewhere, those that keep it low first.
std::vector<std::uint32_t> Shortener::replacements(std::uint32_t tree, std::uint32_t leaving) {
  const PackedTree& t = set_.tree(tree);
  const std::uint32_t branch = branch_behind(t, leaving);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;  // (estimate of the depth, cable)
  for (const std::uint32_t v : mark_branch(t, branch)) {
    for (const auto [cable, to] : set_.around(v)) {
      if (cable == leaving || inside_[to] == marks_ || !has_room(cable)) continue;
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
    for (const auto [c, to] : set_.around(branch_[i])) {
      if (tree.cable[to] != c || tree.parent[to] != branch_[i]) continue;
      inside_[to] = marks_;
      branch_.push_back(to);
    }
  }
  work_ += branch_.size();
  return branch_;
}

}  // namespace hocket

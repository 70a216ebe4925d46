#include "planner/tree_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exchange/piece_trees.h"

namespace hocket {
namespace {

constexpr std::uint32_t kUnknown = UINT32_MAX;

/// One way of a tree: parents by rank.
class Way {
 public:
  explicit Way(std::uint32_t ranks) : parent_(ranks, kUnknown), in_use_(ranks, false) {}

  /// False when the child has a parent already.
  bool add(std::uint32_t parent, std::uint32_t child) {
    in_use_[parent] = in_use_[child] = true;
    if (parent_[child] != kUnknown) return false;
    parent_[child] = parent;
    return true;
  }

  /// The only rank that has no parent; nullopt when there are several or none.
  [[nodiscard]] std::optional<std::uint32_t> root() const {
    std::optional<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < parent_.size(); ++rank) {
      if (!in_use_[rank] || parent_[rank] != kUnknown) continue;
      if (found) return std::nullopt;
      found = rank;
    }
    return found;
  }

  /// Nothing when ranks hang in a circle.
  [[nodiscard]] std::optional<std::uint32_t> height() const {
    std::vector<std::uint32_t> depth(parent_.size(), kUnknown), path;
    std::uint32_t height = 0;
    for (std::uint32_t rank = 0; rank < parent_.size(); ++rank) {
      path.clear();
      std::uint32_t at = rank;
      for (; depth[at] == kUnknown && parent_[at] != kUnknown; at = parent_[at]) {
        path.push_back(at);
        if (path.size() > parent_.size()) return std::nullopt;
      }
      if (depth[at] == kUnknown) depth[at] = 0;
      for (; !path.empty(); path.pop_back()) depth[path.back()] = depth[parent_[path.back()]] + 1;
      height = std::max(height, depth[rank]);
    }
    return height;
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<bool> in_use_;
};

std::optional<WeighedTree> as_tree(const PieceTree& moves, std::uint32_t ranks) {
  Way up(ranks), down(ranks);
  bool climbs = false, spreads = false;
  for (const PieceMove& move : moves.moves) {
    (move.reduces ? climbs : spreads) = true;
    if (!(move.reduces ? up.add(move.to, move.from) : down.add(move.from, move.to))) return std::nullopt;
  }
  WeighedTree tree;
  std::optional<std::uint32_t> root;
  for (const auto& [used, way] : {std::pair(climbs, &up), std::pair(spreads, &down)}) {
    if (!used) continue;
    const auto own = way->root();
    const auto height = way->height();
    if (!own || !height || (root && *root != *own)) return std::nullopt;
    root = own;
    tree.height = std::max(tree.height, *height);
  }
  if (!root) return std::nullopt;
  tree.root = *root;
  return tree;
}

/// Share of the vector that pieces [first, first + ...) of the same way have.
class Shares {
 public:
  explicit Shares(const Division& division) : weights_(division.weights), pieces_(division.pieces()) {
    whole_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }
  [[nodiscard]] double of(std::uint32_t piece) const {
    if (weights_.empty()) return 1.0 / pieces_;
    const double blocks = static_cast<double>(pieces_) / static_cast<double>(weights_.size());
    return weights_[piece % weights_.size()] / whole_ / blocks;
  }

 private:
  const std::vector<std::uint32_t>& weights_;
  std::uint32_t pieces_;
  double whole_ = 0;
};

std::string text_of_weight(double weight) {
  const double parts = 1 / weight;
  if (std::abs(parts - std::round(parts)) < 1e-6 * parts) return fmt::format("1/{:.0f}", parts);
  return fmt::format("{:.4g}", weight);
}

}  // namespace

std::optional<std::vector<WeighedTree>> weigh_trees(const Schedule& schedule) {
  const Result<std::vector<PieceTree>> moves = piece_trees(schedule);
  if (!moves || moves->empty()) return std::nullopt;
  const Shares shares(schedule.division());
  std::vector<WeighedTree> trees;
  trees.reserve(moves->size());
  for (const PieceTree& piece_tree : *moves) {
    auto tree = as_tree(piece_tree, schedule.collective().ranks);
    if (!tree) return std::nullopt;
    tree->weight = piece_tree.pieces * shares.of(piece_tree.first_piece);
    trees.push_back(*tree);
  }
  return trees;
}

std::string text_of(const std::vector<WeighedTree>& trees) {
  const auto [lightest, heaviest] =
      std::minmax_element(trees.begin(), trees.end(), [](const auto& a, const auto& b) { return a.weight < b.weight; });
  const auto [lowest, highest] =
      std::minmax_element(trees.begin(), trees.end(), [](const auto& a, const auto& b) { return a.height < b.height; });
  std::string weights = text_of_weight(lightest->weight);
  if (heaviest->weight > lightest->weight * (1 + 1e-9)) weights += " to " + text_of_weight(heaviest->weight);
  std::string heights = fmt::format("height {}", lowest->height);
  if (highest->height != lowest->height) heights = fmt::format("heights {} to {}", lowest->height, highest->height);
  return fmt::format("{} {} of weight {}, {}", trees.size(), trees.size() == 1 ? "tree" : "trees", weights, heights);
}

}  // namespace hocket

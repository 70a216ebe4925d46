#include "exchange/piece_trees.h"

#include <algorithm>
#include <map>

namespace hocket {

std::string PieceTree::title(const Schedule& schedule) const {
  return fmt::format("{} of {} pieces, first {}", pieces, schedule.division().pieces(), first_piece);
}

Result<std::vector<PieceTree>> piece_trees(const Schedule& schedule) {
  const std::uint32_t pieces = schedule.division().pieces();
  std::vector<std::vector<PieceMove>> moves(pieces);
  std::size_t total = 0;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    if (!op.receives() || !op.writes_target()) continue;
    total += op.count;
    if (total > kMovesMax) return fail(Code::kUnsupported, "more than {} moves of pieces: too many to draw", kMovesMax);
    const PieceMove move{op.step, op.peer, schedule.rank_of(id), op.kind == OpKind::kRecvReduce};
    for (std::uint32_t i = 0; i < op.count; ++i) moves[(op.target_piece + i) % pieces].push_back(move);
  }
  std::map<std::vector<PieceMove>, std::size_t> known;
  std::vector<PieceTree> trees;
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    if (moves[piece].empty()) continue;
    std::sort(moves[piece].begin(), moves[piece].end());
    const auto [entry, fresh] = known.try_emplace(moves[piece], trees.size());
    if (fresh) trees.push_back({piece, 0, std::move(moves[piece])});
    ++trees[entry->second].pieces;
  }
  return trees;
}

LossReport losses_of_drawing(const Schedule& schedule) {
  LossReport losses;
  losses.ignored("", "buffers, dependencies, channels and routes", "a drawing shows who passes pieces to whom");
  const Result<std::vector<PieceTree>> trees = piece_trees(schedule);
  if (trees && trees->size() > kTreesDrawnMax) {
    losses.ignored("", fmt::format("{} of {} trees", trees->size() - kTreesDrawnMax, trees->size()),
                   fmt::format("{} are drawn", kTreesDrawnMax));
  }
  return losses;
}

}  // namespace hocket

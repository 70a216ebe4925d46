// PieceTrees: who passes which pieces to whom, for drawings: pieces that travel the same way are one tree.
// A move that the receiver adds to its own is part of a reduction; the others spread. Steps are the schedule's own.
// Ownership: plain values. Threading: pure functions. Refuses: schedules whose pieces move more than kMovesMax times.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "exchange/loss.h"
#include "schedule/schedule.h"

namespace hocket {

inline constexpr std::size_t kMovesMax = std::size_t{1} << 22;
inline constexpr std::size_t kTreesDrawnMax = 64;

struct PieceMove {
  std::uint32_t step = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool reduces = false;
  auto operator<=>(const PieceMove&) const = default;
};

struct PieceTree {
  std::uint32_t first_piece = 0;
  std::uint32_t pieces = 0;
  std::vector<PieceMove> moves;  // sorted

  /// "4 of 64 pieces from 12".
  [[nodiscard]] std::string title(const Schedule& schedule) const;
};

/// In the order of their first pieces; pieces that never move are left out.
[[nodiscard]] Result<std::vector<PieceTree>> piece_trees(const Schedule& schedule);

/// What no drawing shows.
[[nodiscard]] LossReport losses_of_drawing(const Schedule& schedule);

}  // namespace hocket

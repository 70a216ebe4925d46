// Division: how the elements of a collective's vector are cut into blocks and pieces.
// The vector has `blocks` equal blocks (one per rank for blocked collectives, otherwise 1); each block has
// `pieces_per_block` pieces, equal or in proportion to `weights`. Piece index = block * pieces_per_block + j.
// Scratch piece s has the size of piece s mod pieces(), so any run inside one round of scratch is contiguous.
// Threading: immutable value. Refuses: zero pieces, a weight sum of zero or above 2^32.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket {

struct Division {
  std::uint32_t blocks = 1;
  std::uint32_t pieces_per_block = 1;
  std::vector<std::uint32_t> weights;  // empty: equal pieces
  /// All pieces must have one size (imported schedules that move a piece to another index): the count is then required
  /// to be a multiple of pieces().
  bool uniform = false;

  bool operator==(const Division&) const = default;
  [[nodiscard]] std::uint32_t pieces() const { return blocks * pieces_per_block; }

  /// First element of piece `piece` (pieces() allowed: the end) in a vector of `count` elements.
  [[nodiscard]] std::int64_t offset(std::uint32_t piece, std::int64_t count) const;

  /// Elements of `run` consecutive pieces from `piece`; the run may start beyond pieces() (scratch) but not cross a
  /// multiple of it.
  [[nodiscard]] std::int64_t length(std::uint32_t piece, std::uint32_t run, std::int64_t count) const {
    const std::uint32_t p = piece % pieces();
    return offset(p + run, count) - offset(p, count);
  }

  /// Two pieces with equal class always have equal size.
  [[nodiscard]] std::uint32_t size_class(std::uint32_t piece) const { return uniform ? 0 : piece % pieces_per_block; }
};

}  // namespace hocket

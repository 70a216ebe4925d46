// PieceGroups: which pieces can ever influence one another, so that a proof can treat group after group.
// Usual case: no op moves data to another piece index. Then the indices are cut where any op's range begins or ends,
// and each run is a group of its own whose values are tracked once for the whole run. Otherwise single pieces are
// joined by the ops that connect them. Ownership: keeps a pointer to the schedule (messages matched). Threading:
// immutable. Refuses: nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace hocket {

class PieceGroups {
 public:
  explicit PieceGroups(const Schedule& schedule);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// In the usual case an op meets a group in one run of pieces, which counts as one.
  [[nodiscard]] bool one_run_per_op() const { return straight_; }
  /// Places of one rank in a group.
  [[nodiscard]] std::size_t places(std::uint32_t group) const { return straight_ ? 2 + rounds_ : group_size_[group]; }
  /// Index of a piece among its group's places.
  [[nodiscard]] std::size_t place(Buffer buffer, std::uint32_t piece) const {
    if (!straight_) return local_[node(buffer, piece)];
    return buffer == Buffer::kScratch ? 2 + piece / pieces_ : static_cast<std::size_t>(buffer);
  }
  /// Calls `action(piece)` for each piece of a buffer in the group (one per run in the usual case).
  template <class Action>
  void for_each_piece(std::uint32_t group, Buffer buffer, Action&& action) const {
    if (straight_) {
      action(run_begin_[group]);
      return;
    }
    const std::uint32_t first = buffer == Buffer::kOutput ? pieces_ : 0;
    for (std::uint32_t p = 0; p < pieces_; ++p) {
      if (group_of_[first + p] == group) action(p);
    }
  }
  /// Offsets i of an op's range that belong to the group: the first, and the one after i; op.count at the end.
  [[nodiscard]] std::uint32_t first_in(const Op& op, std::uint32_t group) const {
    if (straight_) return run_begin_[group] - piece_of(op) % pieces_;
    return group_at(op, 0) == group ? 0 : next_in(op, group, 0);
  }
  [[nodiscard]] std::uint32_t next_in(const Op& op, std::uint32_t group, std::uint32_t i) const {
    if (straight_) return op.count;
    for (++i; i < op.count && group_at(op, i) != group; ++i) {
    }
    return i;
  }

  /// Ops by group, in the order given.
  class Buckets {
   public:
    [[nodiscard]] std::span<const OpId> ops(std::uint32_t group) const {
      return std::span<const OpId>(ops_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
    }

   private:
    friend class PieceGroups;
    std::vector<std::size_t> begin_;
    std::vector<OpId> ops_;
  };
  [[nodiscard]] Buckets sort(std::span<const OpId> order) const;

 private:
  [[nodiscard]] static std::uint32_t piece_of(const Op& op) {
    return op.reads_source() ? op.source_piece : op.target_piece;
  }
  [[nodiscard]] std::size_t node(Buffer buffer, std::uint32_t piece) const {
    return static_cast<std::size_t>(buffer) * pieces_ + piece;
  }
  [[nodiscard]] std::uint32_t group_at(const Op& op, std::uint32_t i) const {
    const PieceRange range = op.reads_source() ? op.source() : op.target();
    return group_of_[node(range.buffer, range.piece + i)];
  }
  [[nodiscard]] bool keeps_indices() const;
  void cut_runs();
  void join_pieces();
  template <class Action>
  void for_each_group(const Op& op, Action&& action) const;

  const Schedule* schedule_;
  std::uint32_t pieces_;
  std::uint32_t rounds_ = 0;  // scratch rounds
  std::uint32_t count_ = 0;
  bool straight_ = false;
  std::vector<std::uint32_t> run_begin_;  // straight: first piece of each run
  std::vector<std::uint32_t> run_of_;     // straight: run of each piece
  std::vector<std::uint32_t> group_of_;   // otherwise: group of each node
  std::vector<std::uint32_t> local_;      // otherwise: place of each node
  std::vector<std::uint32_t> group_size_;
};

}  // namespace hocket

// Connections: for every message its neighbours in the FIFO of its connection (sender, receiver, channel).
// Ownership: keeps a pointer to the schedule; all messages must be matched. Threading: immutable.
// Memory: about 8 bytes per op. Refuses: nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace hocket {

class Connections {
 public:
  explicit Connections(const Schedule& schedule) : schedule_(&schedule), place_(schedule.ops().size(), kNoOp) {
    list_.reserve(schedule.ops().size());
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
      for (const bool sends : {true, false}) add_rank(rank, sends);
    }
  }

  /// The message `distance` before / after `id` on its connection and side, or kNoOp.
  [[nodiscard]] OpId previous(OpId id, std::uint32_t distance) const {
    const std::uint32_t at = place_[id];
    if (distance == 1) return starts_[at] ? kNoOp : list_[at - 1];
    return at >= distance && same(id, list_[at - distance]) ? list_[at - distance] : kNoOp;
  }
  [[nodiscard]] OpId next(OpId id, std::uint32_t distance) const {
    const std::uint64_t at = std::uint64_t{place_[id]} + distance;
    if (distance == 1) return at < list_.size() && !starts_[at] ? list_[at] : kNoOp;
    return at < list_.size() && same(id, list_[at]) ? list_[at] : kNoOp;
  }
  /// Messages on the busiest connection.
  [[nodiscard]] std::uint32_t longest() const {
    std::uint32_t longest = 0;
    std::uint32_t run = 0;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      run = starts_[i] ? 1 : run + 1;
      longest = std::max(longest, run);
    }
    return longest;
  }

 private:
  [[nodiscard]] bool same(OpId a, OpId b) const {
    const Op& first = schedule_->op(a);
    const Op& second = schedule_->op(b);
    return first.peer == second.peer && first.channel == second.channel && first.sends() == second.sends() &&
           schedule_->rank_of(a) == schedule_->rank_of(b);
  }

  void add_rank(std::uint32_t rank, bool sends) {
    const auto begin = static_cast<std::ptrdiff_t>(list_.size());
    for (OpId id = schedule_->first_op(rank); id < schedule_->first_op(rank + 1); ++id) {
      const Op& op = schedule_->op(id);
      if (sends ? op.sends() : op.receives()) list_.push_back(id);
    }
    const auto less = [&](OpId a, OpId b) {
      const Op& first = schedule_->op(a);
      const Op& second = schedule_->op(b);
      if (first.peer != second.peer) return first.peer < second.peer;
      return first.channel != second.channel ? first.channel < second.channel : a < b;
    };
    if (!std::is_sorted(list_.begin() + begin, list_.end(), less)) std::sort(list_.begin() + begin, list_.end(), less);
    for (std::size_t i = static_cast<std::size_t>(begin); i < list_.size(); ++i) {
      place_[list_[i]] = static_cast<std::uint32_t>(i);
      const bool first = i == static_cast<std::size_t>(begin);
      const Op& op = schedule_->op(list_[i]);
      starts_.push_back(first || schedule_->op(list_[i - 1]).peer != op.peer ||
                        schedule_->op(list_[i - 1]).channel != op.channel);
    }
  }

  const Schedule* schedule_;
  std::vector<std::uint32_t> place_;
  std::vector<OpId> list_;
  std::vector<bool> starts_;  // first of its connection and side
};

}  // namespace hocket

// Third part of a proof: accesses of one rank that conflict have an order, whatever the timing.
// Along a topological order every access is compared with the last writer and the readers since; each such pair needs a
// path of dependencies and messages. If the two ranges are not the same pieces, one edge of the path must wait for a
// whole op, because segments of both would otherwise meet in another order.
#include <algorithm>
#include <unordered_set>

#include "verify/verifier.h"

namespace hocket {
namespace {

class HazardCheck {
 public:
  HazardCheck(const Schedule& schedule, std::span<const std::uint32_t> position, bool aliased)
      : schedule_(schedule), position_(position), aliased_(aliased) {
    places_.resize(std::size_t{2} * schedule.division().pieces() + schedule.scratch_pieces());
  }

  struct Conflict {
    OpId earlier = kNoOp;
    OpId later = kNoOp;
  };

  /// First conflict without an order on `rank`, if any.
  Conflict check_rank(std::uint32_t rank) {
    ops_.clear();
    for (OpId id = schedule_.first_op(rank); id < schedule_.first_op(rank + 1); ++id) ops_.push_back(id);
    std::sort(ops_.begin(), ops_.end(), [&](OpId a, OpId b) { return position_[a] < position_[b]; });
    std::fill(places_.begin(), places_.end(), Place{});
    nodes_.clear();
    for (const OpId id : ops_) {
      const OpId earlier = check_op(id);
      if (earlier != kNoOp) return {earlier, id};
    }
    return {};
  }
  /// An input piece was read after the output piece with its index was written: wrong data in place.
  [[nodiscard]] bool reads_overwritten_input() const { return reads_overwritten_input_; }

 private:
  struct Place {
    OpId writer = kNoOp;
    std::uint32_t readers = kNoOp;
  };
  struct Node {
    OpId op;
    std::uint32_t next;
  };

  Place& place_of(Buffer buffer, std::uint32_t piece) {
    const std::size_t pieces = schedule_.division().pieces();
    if (buffer == Buffer::kScratch) return places_[2 * pieces + piece];
    return places_[buffer == Buffer::kOutput && !aliased_ ? pieces + piece : piece];
  }

  /// In place, a copy of an input piece to the same output piece changes nothing.
  [[nodiscard]] bool overwritten(const Place& place) const {
    if (place.writer == kNoOp) return false;
    const Op& op = schedule_.op(place.writer);
    return op.kind != OpKind::kCopy || op.source().buffer != Buffer::kInput || op.source_piece != op.target_piece;
  }

  OpId check_op(OpId id) {
    const Op& op = schedule_.op(id);
    for (const Access& access : Accesses(op)) {
      for (std::uint32_t i = 0; i < access.range.count; ++i) {
        const Place& place = place_of(access.range.buffer, access.range.piece + i);
        if (access.range.buffer == Buffer::kInput && !access.writes && overwritten(place))
          reads_overwritten_input_ = true;
        const OpId earlier = unordered_at(place, access, id);
        if (earlier != kNoOp) return earlier;
      }
    }
    for (const Access& access : Accesses(op)) {
      for (std::uint32_t i = 0; i < access.range.count; ++i) {
        Place& place = place_of(access.range.buffer, access.range.piece + i);
        if (access.writes) {
          place = {id, kNoOp};
        } else {
          nodes_.push_back({id, place.readers});
          place.readers = static_cast<std::uint32_t>(nodes_.size() - 1);
        }
      }
    }
    return kNoOp;
  }

  OpId unordered_at(const Place& place, const Access& access, OpId id) {
    if (place.writer != kNoOp && place.writer != id && (!access.writes || place.readers == kNoOp) &&
        !ordered(place.writer, id)) {
      return place.writer;
    }
    for (std::uint32_t n = access.writes ? place.readers : kNoOp; n != kNoOp; n = nodes_[n].next) {
      if (nodes_[n].op != id && !ordered(nodes_[n].op, id)) return nodes_[n].op;
    }
    return kNoOp;
  }

  bool ordered(OpId earlier, OpId later) {
    bool aligned = schedule_.op(earlier).count == schedule_.op(later).count;
    if (!conflicts(schedule_.op(earlier), schedule_.op(later), aliased_, aligned)) return true;
    for (const Dependency& d : schedule_.dependencies(later)) {
      if (d.on() == earlier && (aligned || !d.streaming())) return true;
    }
    return path_exists(earlier, later, !aligned);
  }

  /// Backward search from `later`, pruned by topological position. With `needs_full`, one edge must wait for a whole
  /// op.
  bool path_exists(OpId earlier, OpId later, bool needs_full) {
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::uint64_t> stack{std::uint64_t{later} << 1 | (needs_full ? 0U : 1U)};
    const auto push = [&](OpId op, bool full) {
      const std::uint64_t state = std::uint64_t{op} << 1 | (full ? 1U : 0U);
      if (position_[op] >= position_[earlier] && seen.insert(state).second) stack.push_back(state);
    };
    while (!stack.empty()) {
      const auto op = static_cast<OpId>(stack.back() >> 1);
      const bool full = (stack.back() & 1) != 0;
      stack.pop_back();
      if (op == earlier && full) return true;
      for (const Dependency& d : schedule_.dependencies(op)) push(d.on(), full || !d.streaming());
      if (schedule_.op(op).receives()) push(schedule_.match(op), full);
    }
    return false;
  }

  const Schedule& schedule_;
  std::span<const std::uint32_t> position_;
  bool aliased_;
  bool reads_overwritten_input_ = false;
  std::vector<Place> places_;
  std::vector<Node> nodes_;
  std::vector<OpId> ops_;
};

}  // namespace

void Verifier::check_hazards() {
  std::vector<std::uint32_t> position(order_.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  const auto first_conflict = [&](HazardCheck& check) {
    HazardCheck::Conflict conflict;
    for (std::uint32_t rank = 0; rank < schedule_->rank_count() && conflict.later == kNoOp; ++rank) {
      conflict = check.check_rank(rank);
    }
    return conflict;
  };
  // Without a conflict when input and output are one buffer, there is none when they are two.
  if (may_alias(schedule_->collective().kind)) {
    HazardCheck check(*schedule_, position, true);
    const bool clean = first_conflict(check).later == kNoOp;
    in_place_ = clean && !check.reads_overwritten_input();
    if (clean) return;
  }
  HazardCheck check(*schedule_, position, false);
  const HazardCheck::Conflict conflict = first_conflict(check);
  if (conflict.later == kNoOp) return;
  report(FindingKind::kHazard, conflict.later,
         fmt::format("{} and {} touch the same pieces without an order between them",
                     schedule_->describe(conflict.earlier), schedule_->describe(conflict.later)));
}

}  // namespace hocket

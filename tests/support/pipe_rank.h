// PipeRank: the stream protocol of one rank of a StreamWorld, whose shell is the world: it moves the bytes. A planted
// bug may stand in the way of what the two say to each other.
// Ownership: none of the bytes, nor the bug.
// Threading: one owner. Refuses: nothing.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/program.h"
#include "support/stream_bug.h"
#include "transport/stream_rank.h"

namespace hocket::test {

/// Lanes are drawn by the receive, not by routes, so that every pair has several; most pairs lack some of them.
inline constexpr std::uint32_t kLanes = 3;

inline MessageProgram messages_of(const Program& program) {
  MessageProgram messages{program.plan().fingerprint(), program.plan().what(), program.first_op(), {}};
  for (ProgramOp op : program.ops()) {
    const Op& o = program.plan().schedule().op(op.end.op);
    const auto role = o.sends()      ? MessageOp::Role::kSend
                      : o.receives() ? MessageOp::Role::kReceive
                                     : MessageOp::Role::kNone;
    op.end.lane = (o.receives() ? op.end.op : op.end.match) % kLanes;
    op.end.turn = (o.receives() ? op.end.op : op.end.match) / kLanes;
    messages.ops.push_back({role, op.end, op.alike});
  }
  return messages;
}

class PipeRank final : public StreamRank {
 public:
  PipeRank(std::uint32_t rank, const Streams& streams, StreamBug& bug)
      : StreamRank(rank, names(streams.ranks()), streams), bug_(&bug) {
    bug.stand_before(*this);
  }
  /// What is not lent is bounced. `areas`: by rank, of equal size.
  void bounce_through(std::vector<std::vector<std::byte>>& areas) {
    areas_ = &areas;
    set_bounce_memory({areas[rank()].size(), 0});
  }
  /// One segment of so many is lent; 0: none.
  void lend_one_of(std::uint64_t each) { lend_each_ = each; }
  [[nodiscard]] std::uint64_t fetched() const { return fetched_; }
  bool poll(TransportEvents& events) override {
    bool any = on_board() && bug_->looks_at_boards() && check_board();
    for (std::uint32_t stream = 0; stream < stream_count(); ++stream)
      any = (bug_->resumes(stream) && resume(stream, &events)) || any;
    return report_failure(events) || any;
  }
  void rest(SteadyTime) override {}
  void interrupt() override {}

  using StreamRank::all_sent;
  using StreamRank::closed;
  using StreamRank::conclude;
  using StreamRank::gather;
  using StreamRank::has_outgoing;
  using StreamRank::in_doubt;
  using StreamRank::is_open;
  using StreamRank::on_board;
  using StreamRank::readable;
  using StreamRank::received;
  using StreamRank::room;
  using StreamRank::sent;
  using StreamRank::set_board;
  using StreamRank::take_leave;

 protected:
  [[nodiscard]] SegmentWay way_of(std::uint32_t /*peer*/, std::span<const std::byte> /*bytes*/,
                                  bool bounces) const override {
    if (lend_each_ > 0 && ++asked_ % lend_each_ == 0) return SegmentWay::kLent;
    return bounces ? SegmentWay::kBounced : SegmentWay::kSent;
  }
  [[nodiscard]] std::byte* bounce_memory(std::uint32_t owner) override {
    return (*areas_)[bug_->area_of(owner)].data();
  }
  [[nodiscard]] bool borrows() const override { return true; }
  /// Ranks of the world share their memory.
  [[nodiscard]] const std::byte* fetch(const Loan& loan, std::byte* place) override {
    ++fetched_;
    const auto* where = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(loan.address));
    std::memcpy(place, bug_->lent_from(where, loan.segment, loan.bytes), loan.bytes);
    return place;
  }

 private:
  static std::vector<std::string> names(std::uint32_t ranks) {
    std::vector<std::string> all;
    for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(fmt::format("rank {}", r));
    return all;
  }

  StreamBug* bug_;
  std::vector<std::vector<std::byte>>* areas_ = nullptr;
  std::uint64_t lend_each_ = 0;
  mutable std::uint64_t asked_ = 0;
  std::uint64_t fetched_ = 0;
};

}  // namespace hocket::test

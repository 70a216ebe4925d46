// Program: one rank's part of a plan, flat: where each op reads and writes, how it is cut, whom it meets.
// Built once per plan and rank, reused for every run; knows offsets, never addresses.
// Ownership: a copy of the plan's handle, so that it lives as long as needed. Threading: immutable.
// Refuses: nothing; plans are proved.
#pragma once

#include <vector>

#include "engine/reduce.h"
#include "transport/transport.h"
#include "verify/plan.h"

namespace hocket {

/// A place in one of a rank's buffers; the offset counts from the caller's pointer.
struct Place {
  Buffer buffer = Buffer::kInput;
  std::int64_t offset = 0;
};

struct ProgramOp {
  OpKind kind = OpKind::kCompute;
  bool divides = false;  // avg: the result is complete after this op
  bool staged = false;   // a send that leaves from a copy, so that it never waits for its receiver
  Stores stores = Stores::kCached;
  MessageEnd end;
  OpId alike = kNoOp;  // of sends of the same bytes, cut alike: the next one, round and round
  Place source;
  Place target;
  std::int64_t stage_offset = 0;
};

/// Which buffers a rank's ops really touch, in bytes from the caller's pointers.
struct BufferUse {
  bool input = false;
  bool output = false;
};

class Program {
 public:
  Program(Plan plan, std::uint32_t rank);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] OpId first_op() const { return first_op_; }
  [[nodiscard]] OpId end_op() const { return first_op_ + static_cast<OpId>(ops_.size()); }
  [[nodiscard]] const ProgramOp& op(OpId id) const { return ops_[id - first_op_]; }
  [[nodiscard]] const std::vector<ProgramOp>& ops() const { return ops_; }
  [[nodiscard]] std::int64_t stage_bytes() const { return stage_bytes_; }
  [[nodiscard]] BufferUse uses() const { return uses_; }

 private:
  [[nodiscard]] Place place_of(const PieceRange& range) const;
  [[nodiscard]] ProgramOp compile(OpId id) const;
  void choose_lanes();
  void stage_sends();
  void join_alike();
  void choose_stores();
  void note_use(const Place& place, std::int64_t bytes);

  Plan plan_;
  std::uint32_t rank_;
  OpId first_op_;
  std::vector<ProgramOp> ops_;
  std::int64_t stage_bytes_ = 0;
  BufferUse uses_;
};

}  // namespace hocket

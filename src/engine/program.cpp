#include "engine/program.h"

#include <map>
#include <tuple>
#include <utility>

#include "schedule/lanes.h"

namespace hocket {
namespace {

/// Above this much data per rank a result leaves the caches before anybody reads it.
constexpr std::int64_t kCachedBytesMax = std::int64_t{8} << 20;

}  // namespace

Program::Program(Plan plan, std::uint32_t rank)
    : plan_(std::move(plan)), rank_(rank), first_op_(plan_.schedule().first_op(rank)) {
  const OpId end = plan_.schedule().first_op(rank + 1);
  ops_.reserve(end - first_op_);
  for (OpId id = first_op_; id < end; ++id) {
    const Op& op = plan_.schedule().op(id);
    ops_.push_back(compile(id));
    const ProgramOp& p = ops_.back();
    if (op.reads_source()) note_use(p.source, p.end.cut.bytes());
    if (op.writes_target()) note_use(p.target, p.end.cut.bytes());
  }
  choose_lanes();
  // A schedule that needs a FIFO (two ranks that both send before they receive) would wait for ever when a send ended
  // only with its receive.
  if (plan_.verified().safe_depth() > 0) stage_sends();
  join_alike();
  choose_stores();
}

Place Program::place_of(const PieceRange& range) const {
  const ByteRange bytes = plan_.bytes_of(range);
  std::int64_t base = 0;
  if (range.buffer == Buffer::kInput) base = plan_.input_base(rank_);
  if (range.buffer == Buffer::kOutput) base = plan_.output_base(rank_);
  return {range.buffer, bytes.offset - base};
}

ProgramOp Program::compile(OpId id) const {
  const Op& op = plan_.schedule().op(id);
  ProgramOp p;
  p.kind = op.kind;
  p.divides = plan_.what().op == ReduceOp::kAvg && plan_.verified().completes(id);
  p.end.op = id;
  p.end.match = plan_.schedule().match(id);
  p.end.peer = op.peer;
  p.end.cut = Cut(plan_.bytes(id), size_of(plan_.what().type), plan_.segments(id));
  if (op.reads_source()) p.source = place_of(op.source());
  if (op.writes_target()) p.target = place_of(op.target());
  return p;
}

void Program::choose_lanes() {
  const std::vector<MessageLane> lanes = message_lanes(plan_.schedule(), rank_);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    ops_[i].end.lane = lanes[i].lane;
    ops_[i].end.turn = lanes[i].turn;
  }
}

void Program::stage_sends() {
  for (OpId id = first_op_; id < end_op(); ++id) {
    for (const Dependency& d : plan_.schedule().dependencies(id)) {
      ProgramOp& on = ops_[d.on() - first_op_];
      if (on.kind != OpKind::kSend || on.staged) continue;
      on.staged = true;
      on.stage_offset = stage_bytes_;
      stage_bytes_ += on.end.cut.bytes();
    }
  }
  for (ProgramOp& op : ops_) op.staged = op.staged || op.kind == OpKind::kSignal;
}

/// Staged sends read copies of their own.
void Program::join_alike() {
  std::map<std::tuple<Buffer, std::int64_t, std::int64_t, std::uint32_t>, ProgramOp*> last;
  for (ProgramOp& op : ops_) {
    if (op.kind != OpKind::kSend || op.staged || op.end.cut.bytes() == 0) continue;
    const auto [at, first] =
        last.try_emplace({op.source.buffer, op.source.offset, op.end.cut.bytes(), op.end.cut.segments()}, &op);
    if (first) continue;
    ProgramOp& before = *std::exchange(at->second, &op);
    op.alike = before.alike == kNoOp ? before.end.op : before.alike;
    before.alike = op.end.op;
  }
}

void Program::choose_stores() {
  if (plan_.what().bytes().count <= kCachedBytesMax) return;
  for (ProgramOp& op : ops_) {
    if (!op.divides) op.stores = Stores::kStreaming;
  }
}

void Program::note_use(const Place& place, std::int64_t bytes) {
  if (bytes == 0) return;
  if (place.buffer == Buffer::kInput) uses_.input = true;
  if (place.buffer == Buffer::kOutput) uses_.output = true;
}

}  // namespace hocket

// The sending side of StreamRank: what leaves on a stream next, and how segments get to the peer.
#include <utility>

#include "net/word.h"
#include "transport/stream_rank.h"

namespace hocket {

/// Control frames first: a hello goes before the segments of its call.
void StreamRank::refill(Link& l) {
  FrameHeader header{.sequence = call_.number, .fingerprint = call_fingerprint_};
  if (l.hello_due && !repeats(l) && !l.writer.full()) {
    header.kind = FrameKind::kHello;
    header.length = kCallBytes;
    encode_call(call_, hello_out_);
    l.writer.push(header, hello_out_.data(), kNoToken);
    told(l);
  }
  if (l.ping_due && !l.writer.full()) {
    header.kind = FrameKind::kPing;
    header.length = kPingBytes;
    l.writer.push(header, l.ping_out.data(), kPingToken);
    l.ping_due = false;
    l.ping_on_way = true;
  }
  if (l.abort_due && !l.writer.full()) {
    header.kind = FrameKind::kAbort;
    header.op = static_cast<std::uint32_t>(failure_->code);
    header.length = static_cast<std::uint32_t>(abort_text_.size());
    l.writer.push(header, std::as_bytes(std::span(abort_text_)).data(), kNoToken);
    l.abort_due = false;
  }
  if (!failure_) queue_segments(l);
  if (l.hello_due && !l.writer.full()) {
    header.kind = FrameKind::kHello;
    header.length = 0;
    header.greets = true;
    l.writer.push(header, nullptr, kNoToken);
    header.greets = false;
    told(l);
  }
  if (l.bye_due && !l.writer.full()) {
    header.kind = FrameKind::kBye;
    header.length = 0;
    l.writer.push(header, nullptr, kNoToken);
    l.bye_due = false;
  }
}

void StreamRank::queue_segments(Link& l) {
  if (l.hello_due && !repeats(l)) return;
  queue_taken(l);
  while (!l.sends.empty() && !l.writer.full() && l.writer.unsent() + bounced_bytes_ < l.committed_max) {
    const OpId id = l.sends.lowest().op;
    StreamProgram::OpState& state = program_->state(id);
    if (!queue_segment(l, id)) {
      state.stalled = true;
      state.listed = false;
      l.sends.replace_lowest({}, false);
      continue;
    }
    state.listed = ++state.queued < state.offered;
    l.sends.replace_lowest({state.queued, id}, state.listed);
  }
}

bool StreamRank::queue_segment(Link& l, OpId id) {
  StreamProgram::OpState& state = program_->state(id);
  const MessageEnd& end = program_->op(id).end;
  FrameHeader header{.kind = FrameKind::kSegment,
                     .op = end.match,
                     .sequence = call_.number,
                     .segment = state.queued,
                     .length = static_cast<std::uint32_t>(end.cut.length(state.queued)),
                     .fingerprint = call_fingerprint_,
                     .greets = l.hello_due};
  const std::byte* begin = header.length == 0 ? nullptr : state.memory + end.cut.begin(state.queued);
  const std::span<const std::byte> bytes(begin, header.length);
  // The engine counts segments in order: what is sent would be free before what was lent ahead of it is taken.
  if (state.queued == 0) state.way = bytes.empty() ? SegmentWay::kSent : way_of(end.peer, bytes);
  if (state.way == SegmentWay::kLent) {
    lend(l, state, header);
  } else if (state.way == SegmentWay::kSent) {
    l.writer.push(header, begin, id);
  } else if (!bounce(l, id, header, bytes)) {
    // What the op has in the area comes back whatever becomes of its next segments: their peer takes them in order. One
    // that has none there would wait for others, and they perhaps for it.
    const bool waits = state.lent > state.returned;
    ++(waits ? bounce_counts_.waits : bounce_counts_.sent);
    if (waits) return false;
    l.writer.push(header, begin, id);
  }
  if (header.greets) told(l);
  return true;
}

void StreamRank::lend(Link& l, StreamProgram::OpState& state, FrameHeader header) {
  header.kind = FrameKind::kLent;
  header.length = kLentBytes;
  put_word(state.address_out.data(), reinterpret_cast<std::uintptr_t>(state.memory));
  l.writer.push(header, state.address_out.data(), kNoToken);
  ++state.lent;
  ++loans_;
  ++l.loans;
}

bool StreamRank::bounce(Link& l, OpId id, FrameHeader header, std::span<const std::byte> bytes) {
  StreamProgram::OpState& state = program_->state(id);
  if (bytes.size() > bounce_area_.bytes() / 4) return false;
  const std::optional<BounceArea::Part> part = bounce_area_.take(bytes.size());
  if (!part) return false;
  bounce_copy_.copy(bounce_memory(rank_) + part->offset, bytes.data(), bytes.size());
  bounced_bytes_ += bytes.size();
  ++bounce_counts_.copied;
  const bool others = state.lent > state.returned;
  (others ? bounced_[state.last_part].next : state.first_part) = part->id;
  state.last_part = part->id;
  put_word(bounced_[part->id].word.data(), part->offset);
  header.kind = FrameKind::kBounced;
  header.length = kLentBytes;
  l.writer.push(header, bounced_[part->id].word.data(), id);
  ++state.lent;
  ++loans_;
  ++l.loans;
  return true;
}

void StreamRank::take_back(OpId id, std::uint32_t count) {
  StreamProgram::OpState& state = program_->state(id);
  for (std::uint32_t i = 0; i < count; ++i) {
    bounce_area_.give_back(state.first_part);
    state.first_part = bounced_[state.first_part].next;
  }
  if (!std::exchange(state.stalled, false)) return;
  state.listed = true;
  link(state.stream).sends.push({state.queued, id});
}

void StreamRank::queue_taken(Link& l) {
  while (l.first_taken != kNoOp && !l.writer.full()) {
    const OpId id = l.first_taken;
    StreamProgram::OpState& state = program_->state(id);
    const FrameHeader header{.kind = FrameKind::kConsumed,
                             .op = program_->op(id).end.match,
                             .sequence = call_.number,
                             .segment = std::exchange(state.lent, 0),
                             .fingerprint = call_fingerprint_};
    l.writer.push(header, nullptr, kNoToken);
    state.listed = false;
    l.first_taken = state.next;
  }
}

std::size_t StreamRank::gather(std::uint32_t stream, std::span<std::span<const std::byte>> parts) {
  Link& l = link(stream);
  bounced_bytes_ = 0;
  if (!l.open) return 0;
  refill(l);
  return l.writer.gather(parts);
}

void StreamRank::sent(std::uint32_t stream, std::size_t bytes, TransportEvents* events) {
  Link& l = link(stream);
  l.writer.sent(bytes, [&](FrameWriter::Token token) {
    if (token == kPingToken) l.ping_on_way = false;
    if (token < kPingToken && events != nullptr && in_call()) events->acknowledged(token, 1);
  });
}

}  // namespace hocket

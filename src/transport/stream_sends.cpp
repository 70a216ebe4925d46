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
  if (way(id) == SegmentWay::kLent) {
    lend(l, state, header);
  } else if (way(id) == SegmentWay::kSent) {
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

/// One way for all segments of a message, which the engine counts in order: what is sent would be free before what was
/// lent ahead of it is taken.
SegmentWay StreamRank::way(OpId send) {
  StreamProgram::OpState& state = program_->state(send);
  if (!state.way) {
    const MessageEnd& end = program_->op(send).end;
    const std::span<const std::byte> first(state.memory, static_cast<std::size_t>(end.cut.length(0)));
    state.way = first.empty() ? SegmentWay::kSent : way_of(end.peer, first, program_->slots(send).exist());
  }
  return *state.way;
}

bool StreamRank::bounce(Link& l, OpId id, FrameHeader header, std::span<const std::byte> bytes) {
  StreamProgram::OpState& state = program_->state(id);
  const std::uint8_t& slot = program_->slot(id, header.segment);
  if (slot != BounceSlots::kNone) {
    ++bounce_counts_.shared;
  } else if (!copy_to_slot(id, header.segment, bytes)) {
    return false;
  }
  header.kind = FrameKind::kBounced;
  header.length = kLentBytes;
  l.writer.push(header, program_->slots(id).word(slot).data(), id);
  ++state.lent;
  ++loans_;
  ++l.loans;
  return true;
}

/// Also for the other sends of the same bytes that may read them now: until they are told that theirs have left, nobody
/// may write there.
bool StreamRank::copy_to_slot(OpId id, std::uint32_t segment, std::span<const std::byte> bytes) {
  BounceSlots& slots = program_->slots(id);
  const std::optional<std::uint8_t> slot = slots.take();
  if (!slot) return false;
  bounce_copy_.copy(bounce_memory(rank_) + slots.offset(*slot), bytes.data(), bytes.size());
  bounced_bytes_ += bytes.size();
  ++bounce_counts_.copied;
  program_->slot(id, segment) = *slot;
  OpId other = program_->op(id).alike;
  for (; other != kNoOp && other != id; other = program_->op(other).alike) {
    const StreamProgram::OpState& state = program_->state(other);
    if (segment < state.queued || segment >= state.offered || way(other) != SegmentWay::kBounced) continue;
    if (program_->slot(other, segment) != BounceSlots::kNone) continue;
    program_->slot(other, segment) = *slot;
    slots.share(*slot);
  }
  return true;
}

void StreamRank::take_back(OpId id, std::uint32_t count) {
  StreamProgram::OpState& state = program_->state(id);
  for (; count > 0; ++state.cleared) {
    std::uint8_t& slot = program_->slot(id, state.cleared);
    if (slot == BounceSlots::kNone) continue;  // it was sent
    program_->slots(id).give_back(std::exchange(slot, BounceSlots::kNone));
    --count;
  }
  OpId one = id;
  do {
    StreamProgram::OpState& waiting = program_->state(one);
    if (std::exchange(waiting.stalled, false)) {
      waiting.listed = true;
      link(waiting.stream).sends.push({waiting.queued, one});
    }
    one = program_->op(one).alike;
  } while (one != kNoOp && one != id);
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

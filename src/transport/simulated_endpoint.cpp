#include "transport/simulated_endpoint.h"

#include <algorithm>

namespace hocket {

SimulatedEndpoint::SimulatedEndpoint(SimulatedWorld& world, std::uint32_t rank, SimulatedProgram program)
    : world_(&world),
      rank_(rank),
      program_(std::move(program)),
      connections_(world.ranks_.size()),
      arrived_(program_.ends.size(), 0) {
  for (const MessageEnd& end : program_.ends) {
    if (end.match != kNoOp) connections_[end.peer].used = true;
  }
}

void SimulatedEndpoint::greet_peers() {
  for (std::uint32_t peer = 0; peer < connections_.size(); ++peer) {
    if (connections_[peer].used) send(peer, {.kind = FrameKind::kHello}, {});
  }
}

void SimulatedEndpoint::beat() {
  for (std::uint32_t peer = 0; peer < connections_.size(); ++peer) {
    const Connection& c = connections_[peer];
    if (c.used && c.unconfirmed.empty()) send(peer, {.kind = FrameKind::kPing}, {});
  }
}

void SimulatedEndpoint::offer(const MessageEnd& end, SegmentRange segments, const std::byte* memory) {
  for (std::uint32_t s = segments.first; s < segments.first + segments.count; ++s) {
    const auto length = static_cast<std::size_t>(end.cut.length(s));
    const std::span<const std::byte> bytes =
        length == 0 ? std::span<const std::byte>() : std::span(memory + end.cut.begin(s), length);
    send(end.peer, {.kind = FrameKind::kSegment, .op = end.match, .segment = s}, bytes);
  }
  if (!world_->options_.eager) return;
  consumed_.push_back({end.op, segments.count});
  world_->wake(rank_);
}

const std::byte* SimulatedEndpoint::bytes(const MessageEnd& receive, std::uint32_t segment) {
  return segments_.at({receive.op, segment}).data();
}

void SimulatedEndpoint::acknowledge(const MessageEnd& receive, std::uint32_t segment) {
  segments_.erase({receive.op, segment});
  if (!world_->options_.eager) {
    send(receive.peer, {.kind = FrameKind::kConsumed, .op = receive.match, .segment = segment}, {});
  }
}

bool SimulatedEndpoint::poll(TransportEvents& events) {
  if (error_) {
    if (!error_reported_) events.failed(*error_);
    return !std::exchange(error_reported_, true);
  }
  const bool any = !arrivals_.empty() || !consumed_.empty();
  for (const Arrival& a : std::exchange(arrivals_, {})) events.arrived(a.op, a.segments);
  for (const Arrival& a : std::exchange(consumed_, {})) events.acknowledged(a.op, a.segments);
  return any;
}

void SimulatedEndpoint::send(std::uint32_t to, FrameHeader header, std::span<const std::byte> bytes) {
  Connection& c = connections_[to];
  if (c.given_up) return;
  c.used = true;
  header.sequence = c.next_out++;
  header.fingerprint = program_.fingerprint;
  if (c.unconfirmed.empty()) {
    c.oldest_since = world_->now_;
    c.attempts = 1;
  }
  c.unconfirmed.push_back({header.sequence, encode(header, bytes)});
  world_->transmit(rank_, to, c.unconfirmed.back().wire);
  if (!std::exchange(c.timer, true)) {
    world_->schedule(world_->options_.retry, {.kind = SimulatedWorld::EventKind::kRetry, .rank = rank_, .peer = to});
  }
}

void SimulatedEndpoint::retry(std::uint32_t to) {
  Connection& c = connections_[to];
  c.timer = false;
  if (c.unconfirmed.empty() || c.given_up) return;
  const Picos waited = world_->now_ - c.oldest_since;
  if (waited >= world_->options_.retry) {
    if (c.attempts >= world_->options_.attempts_max) {
      c.given_up = true;
      c.unconfirmed.clear();
      ++world_->counts_.silences;
      fail({Code::kPeerFailed, fmt::format("rank {}: rank {} does not answer, {} attempts in {}", rank_, to, c.attempts,
                                           format_seconds(to_seconds(waited)))});
      return;
    }
    ++c.attempts;
    for (const Unconfirmed& frame : c.unconfirmed) world_->transmit(rank_, to, frame.wire);
    world_->counts_.retransmitted += c.unconfirmed.size();
  }
  c.timer = true;
  world_->schedule(world_->options_.retry, {.kind = SimulatedWorld::EventKind::kRetry, .rank = rank_, .peer = to});
}

/// Receipts are not numbered and not repeated: the next frame or retry brings another.
void SimulatedEndpoint::confirm(std::uint32_t to) {
  const FrameHeader header{
      .kind = FrameKind::kReceipt, .sequence = connections_[to].next_in, .fingerprint = program_.fingerprint};
  world_->transmit(rank_, to, encode(header, {}));
}

void SimulatedEndpoint::confirmed(std::uint32_t from, std::uint64_t next) {
  Connection& c = connections_[from];
  while (!c.unconfirmed.empty() && c.unconfirmed.front().sequence < next) {
    c.unconfirmed.pop_front();
    c.oldest_since = world_->now_;
    c.attempts = 1;
  }
}

bool SimulatedEndpoint::in_sequence(std::uint32_t from, const FrameHeader& header) {
  Connection& c = connections_[from];
  if (header.sequence == c.next_in) {
    ++c.next_in;
    return true;
  }
  ++(header.sequence < c.next_in ? world_->counts_.duplicates_dropped : world_->counts_.gaps);
  return world_->options_.ignore_checks;
}

void SimulatedEndpoint::receive(std::uint32_t from, std::span<const std::byte> wire) {
  std::optional<Frame> frame = decode(wire);
  if (!frame) {
    ++world_->counts_.damaged_dropped;
    return;
  }
  if (frame->header.kind == FrameKind::kReceipt) return confirmed(from, frame->header.sequence);
  const bool good = in_sequence(from, frame->header);
  confirm(from);
  if (!good || error_) return;
  const bool foreign = frame->header.fingerprint != program_.fingerprint;
  if (foreign && frame->header.kind != FrameKind::kAbort && !world_->options_.ignore_fingerprints) {
    return mismatch(from, frame->header);
  }
  accept(from, *frame);
  world_->wake(rank_);
}

void SimulatedEndpoint::mismatch(std::uint32_t from, const FrameHeader& header) {
  ++world_->counts_.mismatches;
  fail({Code::kMismatch, fmt::format("rank {}: rank {} runs another plan: fingerprint {} here, {} there", rank_, from,
                                     program_.fingerprint.text(), header.fingerprint.text())});
}

void SimulatedEndpoint::accept(std::uint32_t from, const Frame& frame) {
  switch (frame.header.kind) {
    case FrameKind::kSegment:
      return accept_segment(from, frame);
    case FrameKind::kConsumed:
      return accept_consumed(from, frame);
    case FrameKind::kAbort:
      return accept_abort(frame);
    case FrameKind::kHello:
    case FrameKind::kPing:
    case FrameKind::kReceipt:
    case FrameKind::kBye:
    case FrameKind::kLent:
    case FrameKind::kBounced:
      return;
  }
}

const MessageEnd* SimulatedEndpoint::end_of(OpId op, std::uint32_t from) const {
  if (op < program_.first_op || op - program_.first_op >= program_.ends.size()) return nullptr;
  const MessageEnd& end = program_.ends[op - program_.first_op];
  return end.match != kNoOp && end.peer == from ? &end : nullptr;
}

void SimulatedEndpoint::accept_segment(std::uint32_t from, const Frame& frame) {
  const FrameHeader& h = frame.header;
  const MessageEnd* end = end_of(h.op, from);
  const std::uint32_t next = end == nullptr ? 0 : arrived_[h.op - program_.first_op];
  if (end == nullptr || h.segment != next || next >= end->cut.segments() ||
      std::int64_t{h.length} != end->cut.length(next)) {
    return fail({Code::kMalformed, fmt::format("rank {}: rank {} sent segment {} of {} bytes for op {}, which is not "
                                               "what the plan has next there",
                                               rank_, from, h.segment, h.length, h.op)});
  }
  ++arrived_[h.op - program_.first_op];
  segments_[{h.op, h.segment}].assign(frame.bytes.begin(), frame.bytes.end());
  arrivals_.push_back({h.op, 1});
}

void SimulatedEndpoint::accept_consumed(std::uint32_t from, const Frame& frame) {
  if (end_of(frame.header.op, from) == nullptr) {
    return fail({Code::kMalformed, fmt::format("rank {}: rank {} consumed a segment of op {}, which is not between us",
                                               rank_, from, frame.header.op)});
  }
  consumed_.push_back({frame.header.op, 1});
}

void SimulatedEndpoint::accept_abort(const Frame& frame) {
  ++world_->counts_.aborts_received;
  const Code code = frame.header.op <= static_cast<std::uint32_t>(Code::kInternal) ? static_cast<Code>(frame.header.op)
                                                                                   : Code::kPeerFailed;
  const auto* text = reinterpret_cast<const char*>(frame.bytes.data());
  end_with({code, fmt::format("rank {} was told: {}", rank_, std::string_view(text, frame.bytes.size()))});
}

void SimulatedEndpoint::connection_reset(std::uint32_t peer) {
  Connection& c = connections_[peer];
  c.given_up = true;
  c.unconfirmed.clear();
  fail({Code::kPeerFailed, fmt::format("rank {}: the connection with rank {} was reset", rank_, peer)});
}

void SimulatedEndpoint::fail(const Error& error) {
  if (error_ || world_->ranks_[rank_].decided) return;
  end_with(error);
  const auto text = std::as_bytes(std::span(error.text));
  for (std::uint32_t other = 0; other < connections_.size(); ++other) {
    if (other == rank_) continue;
    send(other, {.kind = FrameKind::kAbort, .op = static_cast<std::uint32_t>(error.code)}, text);
  }
  world_->wake(rank_);
}

}  // namespace hocket

#include "transport/stream_rank.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/word.h"

namespace hocket {
namespace {

constexpr std::size_t kHistory = 256;

}  // namespace

StreamRank::StreamRank(std::uint32_t rank, std::vector<std::string> names, Streams streams)
    : rank_(rank),
      names_(std::move(names)),
      streams_(streams.ranks() > 0 ? std::move(streams) : Streams(static_cast<std::uint32_t>(names_.size()))),
      of_broadcasts_(names_.size()),
      history_(kHistory) {
  links_.resize(streams_.count());
  for (Link& l : links_) l.abort_in.reserve(kAbortBytesMax);
  link(rank_).open = false;
}

Result<std::unique_ptr<LoadedProgram>> StreamRank::load(MessageProgram program) {
  HOCKET_TRY_ASSIGN(std::unique_ptr<StreamProgram> loaded, StreamProgram::make(std::move(program), streams_, bounce_));
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream)
    link(stream).sends.reserve(loaded->sends_on(stream));
  return std::unique_ptr<LoadedProgram>(std::move(loaded));
}

void StreamRank::count_call(StreamProgram& program) {
  program_ = &program;
  call_repeats_ = call_.what == program_->program().what && call_.plan == program_->program().plan;
  call_ = {call_.number + 1, program_->program().what, program_->program().plan};
  call_fingerprint_ = CallNotice::fingerprint_of(call_.number, program_->subject());
  history_[call_.number % kHistory] = call_;
}

void StreamRank::begin(LoadedProgram& program) {
  count_call(static_cast<StreamProgram&>(program));
  program_->restart();
  loans_ = 0;
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    Link& l = link(stream);
    l.sends.clear();
    l.first_taken = kNoOp;
    l.loans = 0;
    if (l.left) check_left(stream);
    l.hello_due = l.open && program_->involves(stream);
  }
}

/// The call before has left nothing behind: it was flushed, or the communicator has failed.
void StreamRank::begin_shown(LoadedProgram& program, std::span<const std::byte> message) {
  count_call(static_cast<StreamProgram&>(program));
  on_board_ = true;
  not_shown_ = 0;
  board_.show(call_fingerprint_, message);
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (link(stream).left) check_left(stream);
  }
}

bool StreamRank::all_shown() {
  while (not_shown_ < rank_count() && board_.shows(not_shown_)) ++not_shown_;
  return not_shown_ == rank_count() && !failure_ && losses_.empty();
}

bool StreamRank::check_board() {
  bool any = false;
  for (std::uint32_t peer = not_shown_; peer < rank_count(); ++peer) {
    Link& l = link(peer);
    if (!l.open || l.hello_due || l.told == call_.number || !board_.differs(peer)) continue;
    l.hello_due = true;
    any = true;
  }
  return any;
}

/// What is lent has left only when it is taken.
bool StreamRank::flushed() const { return !failure_ && losses_.empty() && !left_early_ && loans_ == 0 && all_sent(); }

bool StreamRank::all_sent() const {
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (has_outgoing(stream)) return false;
  }
  return true;
}

void StreamRank::offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) {
  StreamProgram::OpState& state = program_->state(send.op);
  state.memory = memory;
  state.offered += segments.count;
  if (state.listed || state.stalled) return;
  state.listed = true;
  link(state.stream).sends.push({state.queued, send.op});
}

const std::byte* StreamRank::take_loan(const MessageEnd& receive, std::uint32_t segment) {
  const Loan loan{receive.peer, receive.op, segment,
                  program_->state(receive.op).address + static_cast<std::uint64_t>(receive.cut.begin(segment)),
                  static_cast<std::size_t>(receive.cut.length(segment))};
  // The place is free again at once: the engine is done with the bytes before anything else arrives.
  std::byte* place = program_->place(receive.op, segment);
  program_->keep(receive.op, segment, place);
  program_->give_back(receive.op, segment);
  program_->keep(receive.op, segment, nullptr);
  return fetch(loan, place);
}

void StreamRank::acknowledge(const MessageEnd& receive, std::uint32_t segment) {
  const std::byte* kept = program_->kept(receive.op, segment);
  const bool lent = kept == nullptr && receive.cut.length(segment) > 0;
  if (!lent && !in_bounce_area(receive.peer, kept)) return program_->give_back(receive.op, segment);
  if (lent) used_loan(receive.peer);
  StreamProgram::OpState& state = program_->state(receive.op);
  ++state.lent;
  if (std::exchange(state.listed, true)) return;
  state.next = std::exchange(link(state.stream).first_taken, receive.op);
}

void StreamRank::received(std::uint32_t stream, std::size_t bytes, TransportEvents* events, SteadyTime now) {
  Link& l = link(stream);
  link(streams_.peer(stream)).heard = heard_at_ = now;
  if (l.reader.in_payload()) count_moved(l);
  l.reader.received(bytes);
  parse(stream, events);
}

bool StreamRank::has_outgoing(std::uint32_t stream) const {
  const Link& l = link(stream);
  if (!l.open || l.lost) return false;
  return !l.writer.empty() || l.hello_due || l.ping_due || l.abort_due || l.bye_due || !l.sends.empty() ||
         l.first_taken != kNoOp;
}

bool StreamRank::resume(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  if (!l.held) return false;
  const bool reached = in_call() && l.reader.header().sequence <= call_.number;
  l.skims = !reached && (in_doubt() || listening_);
  if (!reached && !l.skims) return in_call() && check_ahead(stream);
  l.held = false;
  parse(stream, events);
  return true;
}

/// A peer ends a call when its part of it is sent and what it was lent is taken. One that has gone on and still owes
/// something has another plan; what it may say of that lies behind the hello that is held.
bool StreamRank::check_ahead(std::uint32_t stream) {
  if (failure_ || !owes(stream)) return false;
  raise({Code::kMismatch,
         fmt::format(
             "{} and {} disagree on {} {}: {} has gone on without its part of the plan here (here: {}, plan {}): {}",
             names_[rank_], name_of(stream), noun(), call_.number, name_of(stream), text_of(call_), call_.plan.text(),
             kPlanSources)});
  return true;
}

void StreamRank::parse(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  while (!failure_ && l.open) {
    switch (l.reader.next()) {
      case FrameReader::Step::kMore:
        return;
      case FrameReader::Step::kDamaged:
        return malformed(stream, "bytes that are no frame");
      case FrameReader::Step::kHeader:
        if (!take_header(stream, events)) return;
        break;
      case FrameReader::Step::kFrame:
        count_moved(l);
        take_frame(stream, events);
        break;
    }
  }
}

bool StreamRank::take_header(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  const FrameHeader& header = l.reader.header();
  if (l.skims && is_beside(header.kind)) {
    l.reader.skip();
    return true;
  }
  if (header.greets && !take_greeting(stream)) return false;
  switch (header.kind) {
    case FrameKind::kHello:
      if (header.length != (header.greets ? 0 : kCallBytes)) break;
      return take_hello_header(l, header);
    case FrameKind::kSegment:
      return take_segment_header(stream, events);
    case FrameKind::kPing:
      if (header.length != kPingBytes) break;
      l.reader.place(l.ping_in);
      return true;
    case FrameKind::kAbort:
      if (header.length > kAbortBytesMax) break;
      l.abort_in.resize(header.length);
      l.reader.place(l.abort_in);
      return true;
    case FrameKind::kBye:
      if (header.length != 0) break;
      l.reader.place({});
      return true;
    case FrameKind::kLent:
    case FrameKind::kBounced:
      if (header.length != kLentBytes || !(header.kind == FrameKind::kLent ? borrows() : bounce_.bytes > 0)) break;
      return take_word_header(stream, events);
    case FrameKind::kConsumed:
      if (header.length != 0) break;
      l.reader.place({});
      return true;
    case FrameKind::kReceipt:
      break;
  }
  malformed(stream, "a frame that has no place on a stream");
  return false;
}

bool StreamRank::take_hello_header(Link& l, const FrameHeader& header) {
  l.held = is_ahead(header);
  if (l.held) return false;
  l.reader.place(std::span(l.hello_in).first(header.length));
  return true;
}

bool StreamRank::take_greeting(std::uint32_t stream) {
  Link& l = link(stream);
  const FrameHeader& header = l.reader.header();
  l.held = is_ahead(header);
  if (l.held) return false;
  if (l.theirs.number == 0 || header.sequence != l.theirs.number + 1) {
    malformed(stream, fmt::format("a greeting of call {} after call {}", header.sequence, l.theirs.number));
    return false;
  }
  l.theirs.number = header.sequence;
  if (header.sequence != call_.number || header.fingerprint != call_fingerprint_) compare(stream);
  return !failure_;
}

bool StreamRank::is_next(std::uint32_t stream, TransportEvents* events) {
  const FrameHeader& h = link(stream).reader.header();
  const bool known = of_this_call(h, events) && !on_board_ && program_->ours(h.op) &&
                     program_->op(h.op).role == MessageOp::Role::kReceive && program_->state(h.op).stream == stream;
  if (!known) return false;
  const Cut& cut = program_->op(h.op).end.cut;
  const std::uint32_t next = program_->state(h.op).arrived;
  if (h.segment != next || next >= cut.segments()) return false;
  return h.kind == FrameKind::kSegment ? std::int64_t{h.length} == cut.length(next) : cut.length(next) > 0;
}

bool StreamRank::take_segment_header(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  const FrameHeader& h = l.reader.header();
  if (!is_next(stream, events)) {
    malformed(stream,
              fmt::format("segment {} of {} bytes for op {} in call {}, which is not what the plan has next there",
                          h.segment, h.length, h.op, h.sequence));
    return false;
  }
  l.segment_place = h.length == 0 ? nullptr : events->landing(h.op, h.segment);
  if (l.segment_place == nullptr && h.length > 0) l.segment_place = program_->place(h.op, h.segment);
  l.reader.place({l.segment_place, h.length});
  return true;
}

bool StreamRank::take_word_header(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  const FrameHeader& h = l.reader.header();
  if (!is_next(stream, events)) {
    malformed(stream, fmt::format("word of segment {} for op {} in call {}, which is not what the plan has next there",
                                  h.segment, h.op, h.sequence));
    return false;
  }
  l.reader.place(l.lent_in);
  return true;
}

void StreamRank::take_frame(std::uint32_t stream, TransportEvents* events) {
  Link& l = link(stream);
  const FrameHeader& h = l.reader.header();
  if (l.skims && is_beside(h.kind)) return;
  switch (h.kind) {
    case FrameKind::kHello:
      return h.greets ? void() : take_hello(stream);
    case FrameKind::kSegment:
      program_->keep(h.op, h.segment, l.segment_place);
      program_->arrived(h.op);
      return events->arrived(h.op, 1);
    case FrameKind::kPing:
      return take_ping(l);
    case FrameKind::kAbort:
      return take_abort(stream);
    case FrameKind::kBye:
      return take_bye(stream);
    case FrameKind::kLent:
      return take_lent(stream, *events);
    case FrameKind::kBounced:
      return take_bounced(stream, *events);
    case FrameKind::kConsumed:
      return take_consumed(stream, events);
    case FrameKind::kReceipt:
      return;
  }
}

void StreamRank::take_lent(std::uint32_t stream, TransportEvents& events) {
  const FrameHeader& h = link(stream).reader.header();
  program_->keep(h.op, h.segment, nullptr);
  program_->state(h.op).address = word_at(link(stream).lent_in.data());
  program_->arrived(h.op);
  events.arrived(h.op, 1);
}

void StreamRank::take_bounced(std::uint32_t stream, TransportEvents& events) {
  const FrameHeader& h = link(stream).reader.header();
  const std::uint64_t offset = word_at(link(stream).lent_in.data());
  const auto bytes = static_cast<std::size_t>(program_->op(h.op).end.cut.length(h.segment));
  if (bytes > bounce_.bytes || offset > bounce_.bytes - bytes)
    return malformed(stream, fmt::format("word of a segment of {} bytes at {} of {}", bytes, offset, bounce_.bytes));
  program_->keep(h.op, h.segment, bounce_memory(streams_.peer(stream)) + offset);
  program_->arrived(h.op);
  events.arrived(h.op, 1);
}

bool StreamRank::in_bounce_area(std::uint32_t rank, const std::byte* bytes) {
  if (bounce_.bytes == 0 || bytes == nullptr) return false;
  const std::less<> before;
  const std::byte* area = bounce_memory(rank);
  return !before(bytes, area) && before(bytes, area + bounce_.bytes);
}

void StreamRank::take_consumed(std::uint32_t stream, TransportEvents* events) {
  const FrameHeader& h = link(stream).reader.header();
  const bool known = of_this_call(h, events) && program_->ours(h.op) &&
                     program_->op(h.op).role == MessageOp::Role::kSend && program_->state(h.op).stream == stream;
  if (!known || h.segment == 0 || h.segment > program_->state(h.op).lent - program_->state(h.op).returned)
    return malformed(stream, fmt::format("thanks for {} segments of op {} that it was not lent", h.segment, h.op));
  program_->state(h.op).returned += h.segment;
  loans_ -= h.segment;
  link(stream).loans -= h.segment;
  if (way(h.op) == SegmentWay::kLent) return events->acknowledged(h.op, h.segment);
  take_back(h.op, h.segment);
}

std::optional<CallNotice> StreamRank::past_call(std::uint64_t number) const {
  const CallNotice& kept = history_[number % kHistory];
  return kept.number == number ? std::optional(kept) : std::nullopt;
}

void StreamRank::take_hello(std::uint32_t stream) {
  Link& l = link(stream);
  const std::optional<CallNotice> theirs = decode_call(l.hello_in);
  if (!theirs || theirs->number != l.reader.header().sequence || theirs->number <= l.theirs.number)
    return malformed(stream, "a hello that makes no sense");
  l.theirs = *theirs;
  compare(stream);
}

/// What the peer has begun with what was begun here.
void StreamRank::compare(std::uint32_t stream) {
  const CallNotice& theirs = link(stream).theirs;
  const std::optional<CallNotice> mine = past_call(theirs.number);
  if (!mine) return;
  const std::string differs = difference(*mine, theirs);
  if (differs.empty()) return;
  raise(
      {Code::kMismatch, fmt::format("{} and {} disagree on {} {}: {} (here: {}; there: {})", names_[rank_],
                                    name_of(stream), noun(), theirs.number, differs, text_of(*mine), text_of(theirs))});
}

void StreamRank::take_bye(std::uint32_t stream) {
  link(stream).left = true;
  link(stream).bye_number = link(stream).reader.header().sequence;
  if (!link(stream).skims) check_left(stream);
}

/// A peer that has left took part in the calls up to its bye.
void StreamRank::check_left(std::uint32_t stream) {
  const Link& l = link(stream);
  if (failure_ || !in_call()) return;
  if (l.bye_number >= call_.number) {
    check_ahead(stream);
    return;
  }
  left_early({Code::kMismatch, fmt::format("{} left after {} {}; {} is in {}", name_of(stream), noun(), l.bye_number,
                                           names_[rank_], text_of(call_))});
}

}  // namespace hocket

// StreamRank: the protocol of one rank whose peers are at the other ends of byte streams, without the streams. Sans-IO:
// a shell (transport/tcp, tests) moves bytes in and out and tells which stream has ended. Peers may have several.
// On every stream: a hello with the whole CallNotice before its first message, or where the call is like the one before
// only a mark on that message; segments straight from and into memory, a ping now and then, the first error, and a bye
// from who leaves in order. A peer that is a call ahead is left lying. A shell that reads the memory of peers may lend
// segments: it says where they lie, and hears when they are taken. One whose peers read a bounce memory of
// this rank copies segments into it, and hears when they are read. Ownership: readers, writers, nothing of the
// caller's. Threading: one owner. Refuses: whatever the plan does not have next (kMalformed), a differing CallNotice
// (kMismatch, both values and ranks), peers that go without a bye (kPeerFailed); each ends the communicator.
#pragma once

#include <deque>

#include "net/frame_stream.h"
#include "schedule/send_queue.h"
#include "transport/board.h"
#include "transport/bounce_copy.h"
#include "transport/bounce_slots.h"
#include "transport/call_notice.h"
#include "transport/stream_program.h"
#include "transport/witness.h"

namespace hocket {

class StreamRank : public RankTransport {
 public:
  /// `names`: how errors call each rank, "rank 2 (host a, pid 17)".
  /// `streams`: none: one per peer.
  StreamRank(std::uint32_t rank, std::vector<std::string> names, Streams streams = {});

  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override;
  [[nodiscard]] const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    const std::byte* kept = program_->kept(receive.op, segment);
    return kept != nullptr ? kept : take_loan(receive, segment);
  }
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override;

  [[nodiscard]] Result<std::unique_ptr<LoadedProgram>> load(MessageProgram program) override;
  void begin(LoadedProgram& program) override;
  [[nodiscard]] bool flushed() const override;
  void end() override {
    if (in_call() && !failure_) note_proof();
    program_ = nullptr;
    on_board_ = false;
  }
  [[nodiscard]] std::size_t shown_bytes_max() const override { return board_.exists() ? Board::kBytesMax : 0; }
  void begin_shown(LoadedProgram& program, std::span<const std::byte> message) override;
  [[nodiscard]] bool all_shown() override;
  [[nodiscard]] const std::byte* shown(std::uint32_t rank) const override { return board_.message(rank); }
  [[nodiscard]] std::uint32_t not_shown() const override { return not_shown_; }
  void fail(const Error& error) override;
  [[nodiscard]] const std::optional<Error>& failure() const override { return failure_; }
  void listen() override { listening_ = true; }
  void beat(std::uint32_t waits_for) override;
  /// A sign of life to one rank, so that it wakes.
  void nudge(std::uint32_t peer);
  /// Some peers are reached by another half of this rank, which calls them otherwise (`places`, by rank; -1: not by
  /// it). It has no beats of its own: what comes to it, and who is seen there, counts here. It lives as long.
  void count_in(const StreamRank& half, std::vector<std::int32_t> places) { beside_ = {&half, std::move(places)}; }
  [[nodiscard]] std::string late_ranks(std::uint32_t waits_for, std::chrono::nanoseconds silence) const override;
  [[nodiscard]] std::string call_text() const override { return text_of(call_); }
  /// Whom it tells of its failure first, and asks before it says who has died.
  void set_witness(std::shared_ptr<Witness> witness) { witness_ = std::move(witness); }
  /// Its calls are messages between two ranks, and are called so in texts. Before the first.
  void carry_messages() { messages_ = true; }

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t rank_count() const { return streams_.ranks(); }
  [[nodiscard]] std::uint32_t stream_count() const { return streams_.count(); }
  /// Of all calls.
  struct BounceCounts {
    std::uint64_t copied = 0;  // segments
    std::uint64_t shared = 0;  // more sends of the same bytes
    std::uint64_t sent = 0;    // for lack of room
    std::uint64_t waits = 0;   // of an op for one of its own to come back
  };
  [[nodiscard]] const BounceCounts& bounce_counts() const { return bounce_counts_; }
  /// While it is in doubt who has died: when poll() decides; otherwise never.
  [[nodiscard]] SteadyTime verdict_at() const { return verdict_at_; }

 protected:
  /// A segment in the memory of a peer.
  struct Loan {
    std::uint32_t peer = 0;
    OpId receive = kNoOp;
    std::uint32_t segment = 0;
    std::uint64_t address = 0;  // there
    std::size_t bytes = 0;
  };
  /// Asked of the first segment of a message, the shortest. `bounces`: there are slots for it.
  [[nodiscard]] virtual SegmentWay way_of(std::uint32_t /*peer*/, std::span<const std::byte> /*bytes*/,
                                          bool /*bounces*/) const {
    return SegmentWay::kSent;
  }
  [[nodiscard]] virtual bool borrows() const { return false; }
  /// Every rank has it. Once, before the first program is loaded.
  void set_bounce_memory(const BounceMemory& bounce) { bounce_ = bounce; }
  /// That of a rank as this one sees it; only its own is written.
  [[nodiscard]] virtual std::byte* bounce_memory(std::uint32_t /*rank*/) { return nullptr; }
  /// The bytes here, in `place` or elsewhere; when they cannot be had, a failure by the next poll and any bytes.
  [[nodiscard]] virtual const std::byte* fetch(const Loan& /*loan*/, std::byte* place) { return place; }
  /// What fetch() gave was used.
  virtual void used_loan(std::uint32_t /*peer*/) {}

  /// Memory where all ranks show each other messages; once, before the first call. All ranks have it, or none.
  void set_board(Board board) { board_ = board; }
  [[nodiscard]] bool on_board() const { return on_board_; }
  /// The rank that not_shown() named has shown its message now.
  [[nodiscard]] bool shown_more() const { return not_shown_ < rank_count() && board_.shows(not_shown_); }
  /// All have shown their messages of this call, and were alive then.
  void note_shown(SteadyTime now) { heard_at_ = now; }
  /// A peer that has shown a message of another call is told of this one, so that both say how they differ.
  bool check_board();

  /// The call that this rank is in, or that is next.
  [[nodiscard]] std::uint64_t unfinished_call() const { return call_.number + (in_call() ? 0 : 1); }
  [[nodiscard]] const std::string& own_name() const { return names_[rank_]; }

  // The shell's side. `events` is null between calls.
  /// May bytes of this stream be read now? Not while its peer is a call ahead.
  [[nodiscard]] bool readable(std::uint32_t stream) const { return link(stream).open && !link(stream).held; }
  [[nodiscard]] bool is_open(std::uint32_t stream) const { return link(stream).open; }
  [[nodiscard]] std::array<std::span<std::byte>, 2> room(std::uint32_t stream) { return link(stream).reader.room(); }
  void received(std::uint32_t stream, std::size_t bytes, TransportEvents* events, SteadyTime now);
  /// Goes on with what was left lying when begin() has reached the peer's call; true when something happened.
  bool resume(std::uint32_t stream, TransportEvents* events);
  /// The stream has ended. Who has died is decided a moment later: see stream_failure.cpp.
  void closed(std::uint32_t stream, const std::string& why);
  /// The same of a stream whose peer takes nothing any more, and may have said why.
  void suspected(std::uint32_t stream, const std::string& why);
  /// What a peer that has failed says of the cause.
  void heard(std::uint32_t stream, Code code, std::string_view text);
  [[nodiscard]] bool in_doubt() const { return (!losses_.empty() || left_early_) && !failure_; }
  /// The lost ranks are the cause; nobody has named another.
  void conclude();
  /// fail() was called: peers are told, or will be.
  [[nodiscard]] bool has_told() const { return !abort_text_.empty(); }
  [[nodiscard]] const std::string& told_text() const { return abort_text_; }
  /// The peer sent what nobody may send.
  void malformed(std::uint32_t stream, std::string_view what);
  /// What has been given to a stream cannot be overtaken by what is more urgent; this much at most, or a frame.
  void commit_at_most(std::uint32_t stream, std::size_t bytes) { link(stream).committed_max = bytes; }
  [[nodiscard]] bool has_outgoing(std::uint32_t stream) const;
  [[nodiscard]] bool all_sent() const;
  [[nodiscard]] std::size_t gather(std::uint32_t stream, std::span<std::span<const std::byte>> parts);
  /// Bytes that the last gather() copied into the bounce memory.
  [[nodiscard]] std::size_t bounced_bytes() const { return bounced_bytes_; }
  void sent(std::uint32_t stream, std::size_t bytes, TransportEvents* events);
  /// Leaves in order: a bye to everybody, or nothing after a failure.
  void take_leave();
  /// Reports the failure once per call; true when there is one.
  bool report_failure(TransportEvents& events);

 private:
  static constexpr std::size_t kCommittedBytes = std::size_t{64} << 10;  // little more than a frame or two
  static constexpr std::size_t kPingBytes = 24;
  static constexpr std::size_t kLentBytes = 8;  // a word: where it lies
  static constexpr std::size_t kAbortBytesMax = 2048;
  static constexpr FrameWriter::Token kNoToken = kNoOp;
  static constexpr FrameWriter::Token kPingToken = kNoOp - 1;

  /// What a rank says of itself at a beat.
  struct Standing {
    std::uint64_t call = 0;
    std::uint32_t beat = 0;  // of all its beats, from 1
    std::uint32_t waits_for = 0;
    std::uint64_t moved = 0;  // what has come to it: frames, and parts of them
    /// Another beat, and nothing has changed.
    [[nodiscard]] bool repeats(const Standing& before) const {
      return beat != before.beat && call == before.call && waits_for == before.waits_for && moved == before.moved;
    }
  };
  struct Statement {
    Standing standing;
    bool repeated = false;  // as at the beat before
    SteadyTime said;
  };
  /// What is known of a peer.
  struct Sighting {
    std::uint64_t call = 0;  // the last it was seen in
    SteadyTime heard;
    bool involved = false;  // in this call's plan
    bool explained = false;
  };
  /// That a rank has begun a call, from the data of it that have come here, whichever way.
  struct Proof {
    std::uint64_t call = 0;
    SteadyTime at;
  };
  struct Beside {
    const StreamRank* half = nullptr;
    std::vector<std::int32_t> places;
  };

  struct Link {
    bool open = true;
    bool left = false;   // said bye, or told us its error: its end is explained
    bool lost = false;   // nothing can be said to it any more, and its end is not explained
    bool skims = false;  // nothing but its last words is of interest
    FrameReader reader;
    FrameWriter writer;
    bool held = false;  // a hello of a later call waits in the reader
    bool hello_due = false;
    bool ping_due = false;
    bool ping_on_way = false;
    bool abort_due = false;
    bool bye_due = false;
    SendQueue sends;  // with segments to queue
    std::size_t committed_max = kCommittedBytes;
    std::uint64_t loans = 0;       // segments of this call that it was lent and has not taken
    OpId first_taken = kNoOp;      // list of receives that have taken lent segments
    std::uint64_t told = 0;        // the last call that the peer was told of
    CallNotice theirs;             // the last call the peer has begun
    std::uint64_t bye_number = 0;  // calls the peer had finished when it left
    SteadyTime heard;
    std::uint64_t ping_call = 0;
    Statement stated;
    std::array<std::byte, kCallBytes> hello_in{};
    std::array<std::byte, kPingBytes> ping_in{};
    std::array<std::byte, kPingBytes> ping_out{};
    std::array<std::byte, kLentBytes> lent_in{};
    std::vector<std::byte> abort_in;
    std::byte* segment_place = nullptr;
    std::vector<std::byte> salvaged;  // after a failure: the rest of a payload whose frame had begun
  };

  [[nodiscard]] Link& link(std::uint32_t stream) { return links_[stream]; }
  [[nodiscard]] const Link& link(std::uint32_t stream) const { return links_[stream]; }
  [[nodiscard]] const std::string& name_of(std::uint32_t stream) const { return names_[streams_.peer(stream)]; }
  [[nodiscard]] std::string text_of(const CallNotice& call) const {
    return messages_ ? call.message_text() : call.text();
  }
  [[nodiscard]] std::string_view noun() const { return messages_ ? "message" : "call"; }
  [[nodiscard]] bool in_call() const { return program_ != nullptr; }
  void parse(std::uint32_t stream, TransportEvents* events);
  /// False when the header is left lying.
  bool take_header(std::uint32_t stream, TransportEvents* events);
  bool take_hello_header(Link& l, const FrameHeader& header);
  bool take_segment_header(std::uint32_t stream, TransportEvents* events);
  bool take_word_header(std::uint32_t stream, TransportEvents* events);
  /// Whether the header's segment is the next one of its op.
  [[nodiscard]] bool is_next(std::uint32_t stream, TransportEvents* events);
  [[nodiscard]] bool of_this_call(const FrameHeader& h, TransportEvents* events) const {
    return in_call() && events != nullptr && h.sequence == call_.number && h.fingerprint == call_fingerprint_;
  }
  [[nodiscard]] const std::byte* take_loan(const MessageEnd& receive, std::uint32_t segment);
  [[nodiscard]] bool in_bounce_area(std::uint32_t rank, const std::byte* bytes);
  void take_frame(std::uint32_t stream, TransportEvents* events);
  void take_hello(std::uint32_t stream);
  /// False when the header is left lying, or makes no sense.
  bool take_greeting(std::uint32_t stream);
  void compare(std::uint32_t stream);
  [[nodiscard]] bool is_ahead(const FrameHeader& header) const {
    return header.sequence > call_.number || (header.sequence == call_.number && !in_call());
  }
  void take_lent(std::uint32_t stream, TransportEvents& events);
  void take_bounced(std::uint32_t stream, TransportEvents& events);
  void take_consumed(std::uint32_t stream, TransportEvents* events);
  void take_abort(std::uint32_t stream);
  void take_bye(std::uint32_t stream);
  void check_left(std::uint32_t stream);
  void left_early(Error error);
  /// True when it raised a failure.
  bool check_ahead(std::uint32_t stream);
  /// In the order in which it matters: a peer that has gone on has shown its message before it said so.
  [[nodiscard]] bool owes(std::uint32_t stream) const {
    if (on_board_) return !board_.shows(streams_.peer(stream));
    return program_->awaits(stream) || link(stream).loans > 0;
  }
  void count_call(StreamProgram& program);
  void refill(Link& l);
  void told(Link& l) const {
    l.hello_due = false;
    l.told = call_.number;
  }
  /// Whether a mark is enough to tell the peer of this call.
  [[nodiscard]] bool repeats(const Link& l) const { return call_repeats_ && l.told + 1 == call_.number; }
  void queue_segments(Link& l);
  /// False when the op has to wait.
  bool queue_segment(Link& l, OpId id);
  void lend(Link& l, StreamProgram::OpState& state, FrameHeader header);
  [[nodiscard]] SegmentWay way(OpId send);
  /// False when there is no room now.
  bool bounce(Link& l, OpId id, FrameHeader header, std::span<const std::byte> bytes);
  bool copy_to_slot(OpId id, std::uint32_t segment, std::span<const std::byte> bytes);
  void take_back(OpId id, std::uint32_t count);
  void queue_taken(Link& l);
  void raise(Error error);
  /// `by`: name of a rank; empty: the words say enough.
  void be_told(Code code, std::string_view text, const std::string& by);
  void note_loss(std::uint32_t stream, const std::string& why);
  /// Some stream may still bring a word of the cause.
  [[nodiscard]] bool hears_others() const;
  void take_ping(Link& l);
  /// The call that ends well depended on others.
  void note_proof();
  void count_moved(const Link& l) { moved_ += l.reader.header().kind == FrameKind::kPing ? 0 : 1; }
  [[nodiscard]] std::uint64_t moved() const { return moved_ + (beside_.half == nullptr ? 0 : beside_.half->moved_); }
  /// Of late, in this call, and with nothing changed between two beats.
  [[nodiscard]] bool stands_still(const Statement& stated, SteadyTime since) const;
  [[nodiscard]] std::string circle_of(std::uint32_t waits_for, SteadyTime since) const;
  [[nodiscard]] Sighting sighting(std::uint32_t peer) const;
  [[nodiscard]] std::string late_half(std::uint32_t peer, std::chrono::nanoseconds silence) const;
  [[nodiscard]] std::optional<CallNotice> past_call(std::uint64_t number) const;
  /// Whether a frame that is skimmed is dropped.
  [[nodiscard]] static bool is_beside(FrameKind kind) { return kind != FrameKind::kAbort && kind != FrameKind::kBye; }

  std::uint32_t rank_;
  std::vector<std::string> names_;
  Streams streams_;
  std::deque<Link> links_;  // by stream
  StreamProgram* program_ = nullptr;
  Statement own_;            // by the last beat
  std::uint64_t moved_ = 0;  // what has come from peers, but for pings: frames, and parts of them
  Beside beside_;
  std::uint64_t loans_ = 0;  // segments of this call that peers have been lent and not taken
  Board board_;
  bool on_board_ = false;             // in a call whose messages are shown
  std::uint32_t not_shown_ = 0;       // the first rank whose message of this call has not been seen
  SteadyTime heard_at_;               // last, of anybody
  Proof of_all_;                      // by a call that needs data of every rank
  std::vector<Proof> of_broadcasts_;  // by rank, as their roots
  BounceMemory bounce_;
  BounceCopy bounce_copy_;
  std::size_t bounced_bytes_ = 0;
  BounceCounts bounce_counts_;
  CallNotice call_;
  Fingerprint call_fingerprint_;
  bool call_repeats_ = false;  // the call before but for its number
  std::array<std::byte, kCallBytes> hello_out_{};
  std::vector<CallNotice> history_;  // a ring of the last calls, for peers that say late what they think of them
  struct Loss {
    std::uint32_t peer = 0;
    std::string why;
  };
  std::vector<Loss> losses_;         // in the order in which they were noticed
  std::optional<Error> left_early_;  // a peer has left in order before this call: said where nobody is lost
  SteadyTime verdict_at_ = SteadyTime::max();
  std::shared_ptr<Witness> witness_;
  bool listening_ = false;
  bool messages_ = false;
  std::optional<Error> failure_;
  std::string abort_text_;  // as it travels; empty: nothing was told yet
  std::string told_;        // the text of a peer's abort, to be passed on as it was
};

}  // namespace hocket

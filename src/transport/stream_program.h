// StreamProgram: what a rank keeps per plan when its messages travel on byte streams: progress of every message, and
// memory for segments that arrive before their op can take them.
//   slots    per stream a few segments' worth, reused at once: they stay in the caches
//   overflow as many bytes as the plan receives, reserved but untouched until slots run out, so that a stream never has
//            to stop for lack of room and no schedule can deadlock on it
// A segment that its sender has lent keeps no place: it is fetched when its op takes it. A bounced one lies in the
// bounce memory of its sender until then.
// Nothing is allocated after make(). Ownership: the caller of load(). Threading: one owner.
// Refuses: memory the system does not have (an Error).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "net/streams.h"
#include "transport/bounce_slots.h"
#include "transport/call_notice.h"
#include "transport/rank_transport.h"

namespace hocket {

/// How the segments of a message reach a peer.
enum class SegmentWay : std::uint8_t {
  kSent,     // on the stream
  kLent,     // the peer is told where they lie, and reads them there
  kBounced,  // copied to where the peer reads it while there is room, otherwise on the stream
};

class StreamProgram final : public LoadedProgram {
 public:
  [[nodiscard]] static Result<std::unique_ptr<StreamProgram>> make(MessageProgram program, const Streams& streams,
                                                                   const BounceMemory& bounce);
  ~StreamProgram() override;
  StreamProgram(const StreamProgram&) = delete;
  StreamProgram& operator=(const StreamProgram&) = delete;

  struct OpState {
    std::uint32_t stream = 0;           // that carries it
    const std::byte* memory = nullptr;  // of a send
    std::uint32_t offered = 0;          // segments: offered to us,
    std::uint32_t queued = 0;           //   given to the writer,
    std::uint32_t arrived = 0;          //   or arrived
    std::optional<SegmentWay> way;      // of a send, when it is chosen
    std::uint32_t lent = 0;             // segments the peer reads here, of a send; taken and to be told, of a receive
    std::uint32_t returned = 0;         // of a send: of them those that the peer has taken
    std::uint32_t cleared = 0;          // of a bounced send: segments before this one hold no slot
    std::size_t group = 0;              // of a send: of those alike
    bool stalled = false;               // of a bounced send: goes on when a slot comes back
    std::uint64_t address = 0;          // of a receive: where the message begins in the memory of its sender
    std::array<std::byte, 8> address_out{};  // the same of a send, as it travels
    bool listed = false;                     // waits among the peer's sends, or its receives that have taken loans
    OpId next = kNoOp;                       // of the latter
    std::size_t first_place = 0;             // of a receive: where its segments lie; of a send: their slots
    std::size_t overflow_begin = 0;          // bytes
  };

  [[nodiscard]] const MessageProgram& program() const { return program_; }
  /// Of the notices of all its calls.
  [[nodiscard]] const Fingerprint& subject() const { return subject_; }
  [[nodiscard]] bool ours(OpId op) const {
    return op >= program_.first_op && op - program_.first_op < program_.ops.size();
  }
  [[nodiscard]] const MessageOp& op(OpId id) const { return program_.ops[id - program_.first_op]; }
  [[nodiscard]] OpState& state(OpId id) { return states_[id - program_.first_op]; }
  /// The first stream to a peer is involved whenever one of them is.
  [[nodiscard]] bool involves(std::uint32_t stream) const { return streams_[stream].involved; }
  [[nodiscard]] std::size_t sends_on(std::uint32_t stream) const { return streams_[stream].sends; }

  void restart();
  /// A segment of `receive` is here, or word of it.
  void arrived(OpId receive) {
    ++state(receive).arrived;
    --streams_[state(receive).stream].awaited;
  }
  /// Segments of this call are still to come on that stream.
  [[nodiscard]] bool awaits(std::uint32_t stream) const { return streams_[stream].awaited > 0; }
  /// A place for a segment of `receive`: a free slot of its stream, else its overflow.
  [[nodiscard]] std::byte* place(OpId receive, std::uint32_t segment);
  void keep(OpId receive, std::uint32_t segment, const std::byte* where) {
    places_[state(receive).first_place + segment] = where;
  }
  [[nodiscard]] const std::byte* kept(OpId receive, std::uint32_t segment) {
    return places_[state(receive).first_place + segment];
  }
  void give_back(OpId receive, std::uint32_t segment);

  /// Where sends of the bytes of `send` bounce.
  [[nodiscard]] BounceSlots& slots(OpId send) { return groups_[state(send).group].slots; }
  /// The slot that holds a segment of `send`, or will be said to when its turn comes.
  [[nodiscard]] std::uint8_t& slot(OpId send, std::uint32_t segment) {
    return taken_[state(send).first_place + segment];
  }

 private:
  static constexpr std::size_t kSlotsMax = 4;
  /// Sends of the same bytes.
  struct Group {
    std::size_t longest = 0;  // segment
    BounceSlots slots;
  };
  struct Stream {
    bool involved = false;
    std::size_t sends = 0;
    std::uint64_t receives = 0;  // segments
    std::uint64_t awaited = 0;   // of them, in this call
    std::size_t slots = 0;
    std::size_t free_count = 0;
    std::unique_ptr<std::byte[]> memory;
    std::array<std::byte*, kSlotsMax> free{};
  };

  explicit StreamProgram(MessageProgram program)
      : program_(std::move(program)), subject_(CallNotice{0, program_.what, program_.plan}.subject()) {}
  [[nodiscard]] Result<void> reserve(const Streams& streams);
  void join_alike();
  void share_out(const BounceMemory& bounce);
  void fill_slots(Stream& stream) const;

  MessageProgram program_;
  Fingerprint subject_;
  std::vector<OpState> states_;
  std::vector<const std::byte*> places_;  // of every segment of every receive
  std::vector<std::uint8_t> taken_;       // slots, of every segment of every send
  std::vector<Group> groups_;
  std::vector<Stream> streams_;
  std::size_t slot_bytes_ = 0;
  std::byte* overflow_ = nullptr;
  std::size_t overflow_bytes_ = 0;
};

}  // namespace hocket

// Transport: what one rank's engine sees of the world. The engine is the only caller, from one thread.
// A message is named by the receiving op; it moves in segments, in order, and both sides cut it alike. The sender
// offers segments out of its memory and may not reuse that memory until they are acknowledged; the receiver reads an
// arrived segment where it lies (the sender's memory when the transport shares it) and then acknowledges it. Events
// come out of poll() only. After an error nothing more comes. Ownership: the world that made it. Refuses: waiting.
// poll() returns at once; whoever drives the engine decides how to wait, and until when.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "schedule/op.h"

namespace hocket {

/// How the bytes of an op are cut into segments: equal up to one element, as Plan::segment_begin does it.
class Cut {
 public:
  Cut() = default;
  Cut(std::int64_t bytes, std::int64_t element_bytes, std::uint32_t segments)
      : each_(bytes / element_bytes / segments),
        rest_(static_cast<std::uint64_t>(bytes / element_bytes % segments)),
        element_bytes_(element_bytes),
        segments_(segments) {}

  [[nodiscard]] std::uint32_t segments() const { return segments_; }
  [[nodiscard]] std::int64_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::int64_t begin(std::uint32_t segment) const {
    if (segments_ == 1) return segment * each_ * element_bytes_;
    return (each_ * segment + static_cast<std::int64_t>(rest_ * segment / segments_)) * element_bytes_;
  }
  [[nodiscard]] std::int64_t length(std::uint32_t segment) const { return begin(segment + 1) - begin(segment); }
  [[nodiscard]] std::int64_t bytes() const { return begin(segments_); }

 private:
  std::int64_t each_ = 0;
  std::uint64_t rest_ = 0;
  std::int64_t element_bytes_ = 1;
  std::uint32_t segments_ = 1;
};

/// One end of a message.
struct MessageEnd {
  OpId op = kNoOp;     // this rank's
  OpId match = kNoOp;  // the peer's
  std::uint32_t peer = 0;
  std::uint32_t lane = 0;  // of the connections between the two, where there are several
  Cut cut;
  std::uint32_t turn = 0;  // of the messages that take that lane
};

struct SegmentRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// What poll() reports. Counts are of segments since the last report for that op.
class TransportEvents {
 public:
  virtual void arrived(OpId receive, std::uint32_t segments) = 0;
  virtual void acknowledged(OpId send, std::uint32_t segments) = 0;
  virtual void failed(const Error& error) = 0;
  /// Where the bytes of a segment that is about to arrive may go at once: its place in the result when nothing else
  /// may touch that any more, so that bytes() is there and nothing is copied. Null: the transport keeps them.
  [[nodiscard]] virtual std::byte* landing(OpId /*receive*/, std::uint32_t /*segment*/) { return nullptr; }

 protected:
  ~TransportEvents() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// `memory` is where the whole message begins, the same at every call for one message.
  virtual void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) = 0;
  /// Bytes of an arrived segment; valid until it is acknowledged.
  [[nodiscard]] virtual const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) = 0;
  virtual void acknowledge(const MessageEnd& receive, std::uint32_t segment) = 0;
  /// Reports what happened; false when nothing did.
  virtual bool poll(TransportEvents& events) = 0;
};

}  // namespace hocket

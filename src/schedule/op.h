// Op: one operation of one rank, 32 bytes. What it reads and writes is fixed here, once, for every consumer.
//   send         peer <- source                      recv         target <- peer
//   recv_reduce  target <- source (+) peer's message copy         target <- source
//   reduce       target <- target (+) source         compute      no memory effect
//   signal/wait  an empty message to / from peer
// An op covers `count` consecutive pieces: the repetition over pieces is symbolic, consumers stream it in segments.
// Threading: plain values. Refuses: nothing here; ranges are checked by ScheduleBuilder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hocket {

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = 0xffffffffU;
inline constexpr std::uint32_t kNoRoute = 0xffffffffU;

enum class OpKind : std::uint8_t { kSend, kRecv, kRecvReduce, kCopy, kReduce, kCompute, kSignal, kWait };
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

[[nodiscard]] std::string_view name_of(OpKind kind);
[[nodiscard]] std::string_view name_of(Buffer buffer);

/// `count` consecutive pieces of one buffer, starting at `piece`.
struct PieceRange {
  Buffer buffer = Buffer::kInput;
  std::uint32_t piece = 0;
  std::uint32_t count = 1;
  bool operator==(const PieceRange&) const = default;
};

struct Op {
  OpKind kind = OpKind::kCompute;
  std::uint8_t buffers = 0;  // low nibble source, high nibble target
  std::uint16_t channel = 0;
  std::uint32_t peer = 0;
  std::uint32_t source_piece = 0;
  std::uint32_t target_piece = 0;
  std::uint32_t count = 0;
  std::uint32_t route = kNoRoute;  // index into Schedule routes; kNoRoute: shortest path
  std::uint32_t step = 0;          // the algorithm's own time step; for tables and drawings
  std::uint32_t first_dependency = 0;

  [[nodiscard]] PieceRange source() const { return {static_cast<Buffer>(buffers & 15), source_piece, count}; }
  [[nodiscard]] PieceRange target() const { return {static_cast<Buffer>(buffers >> 4), target_piece, count}; }
  [[nodiscard]] bool sends() const { return kind == OpKind::kSend || kind == OpKind::kSignal; }
  [[nodiscard]] bool receives() const {
    return kind == OpKind::kRecv || kind == OpKind::kRecvReduce || kind == OpKind::kWait;
  }
  /// True when the op combines two values with the reduce operator.
  [[nodiscard]] bool combines() const { return kind == OpKind::kRecvReduce || kind == OpKind::kReduce; }
  [[nodiscard]] bool reads_source() const {
    return kind == OpKind::kSend || kind == OpKind::kRecvReduce || kind == OpKind::kCopy || kind == OpKind::kReduce;
  }
  [[nodiscard]] bool writes_target() const {
    return kind == OpKind::kRecv || kind == OpKind::kRecvReduce || kind == OpKind::kCopy || kind == OpKind::kReduce;
  }
};
static_assert(sizeof(Op) == 32);

struct Access {
  PieceRange range;
  bool writes = false;
};

/// The accesses of an op to its own rank's buffers: at most two. A reduce's target is read and written: one write.
class Accesses {
 public:
  explicit Accesses(const Op& op) {
    if (op.reads_source()) items_[size_++] = {op.source(), false};
    if (op.writes_target()) items_[size_++] = {op.target(), true};
  }
  [[nodiscard]] const Access* begin() const { return items_.data(); }
  [[nodiscard]] const Access* end() const { return items_.data() + size_; }

 private:
  std::array<Access, 2> items_;
  std::uint32_t size_ = 0;
};

/// A dependency: the op waited for, and whether segment s may follow segment s (streaming) or only the whole op.
class Dependency {
 public:
  Dependency(OpId on, bool streaming) : word_(on | (streaming ? kStreamingBit : 0U)) {}
  [[nodiscard]] OpId on() const { return word_ & ~kStreamingBit; }
  [[nodiscard]] bool streaming() const { return (word_ & kStreamingBit) != 0; }

 private:
  static constexpr std::uint32_t kStreamingBit = 0x80000000U;
  std::uint32_t word_;
};

}  // namespace hocket

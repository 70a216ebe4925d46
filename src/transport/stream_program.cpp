#include "transport/stream_program.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/assert.h"
#include "net/frame.h"

namespace hocket {
namespace {

/// Plans that receive no more than this have no slots: their overflow stays in the caches anyway.
constexpr std::size_t kSmallBytes = std::size_t{256} << 10;
constexpr std::size_t kSlotBytesOfStream = std::size_t{2} << 20;

std::size_t longest_segment(const Cut& cut) {
  std::int64_t longest = 0;  // lengths differ by at most one element, and the last one is never shorter
  for (const std::uint32_t s : {0U, cut.segments() - 1}) longest = std::max(longest, cut.length(s));
  return static_cast<std::size_t>(longest + cut.element_bytes());
}

}  // namespace

Result<std::unique_ptr<StreamProgram>> StreamProgram::make(MessageProgram program, const Streams& streams,
                                                           const BounceMemory& bounce) {
  std::unique_ptr<StreamProgram> made(new StreamProgram(std::move(program)));
  HOCKET_TRY(made->reserve(streams));
  made->join_alike();
  made->share_out(bounce);
  return made;
}

StreamProgram::~StreamProgram() {
  if (overflow_ != nullptr) ::munmap(overflow_, overflow_bytes_);
}

Result<void> StreamProgram::reserve(const Streams& streams) {
  std::size_t places = 0;
  std::size_t sent = 0;
  states_.resize(program_.ops.size());
  streams_.resize(streams.count());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const MessageOp& op = program_.ops[i];
    if (op.role == MessageOp::Role::kNone) continue;
    states_[i].stream = streams.of(op.end.peer, op.end.lane, op.end.turn);
    Stream& stream = streams_[states_[i].stream];
    streams_[op.end.peer].involved = stream.involved = true;
    if (op.role == MessageOp::Role::kSend) {
      ++stream.sends;
      states_[i].first_place = sent;
      sent += op.end.cut.segments();
      continue;
    }
    stream.receives += op.end.cut.segments();
    states_[i].first_place = places;
    states_[i].overflow_begin = overflow_bytes_;
    places += op.end.cut.segments();
    overflow_bytes_ += static_cast<std::size_t>(op.end.cut.bytes());
    slot_bytes_ = std::max(slot_bytes_, longest_segment(op.end.cut));
  }
  if (slot_bytes_ > kFrameLengthMax)
    return fail(Code::kUnsupported, "segments of {} bytes: a frame holds {}", slot_bytes_, kFrameLengthMax);
  places_.resize(places);
  taken_.resize(sent, BounceSlots::kNone);
  if (overflow_bytes_ == 0) return {};
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = ::mmap(nullptr, overflow_bytes_, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::kResourceExhausted, "no memory for {} bytes that may arrive early: {}", overflow_bytes_,
                std::generic_category().message(errno));
  overflow_ = static_cast<std::byte*>(memory);
  if (overflow_bytes_ <= kSmallBytes) return {};
  slot_bytes_ = (slot_bytes_ + 63) / 64 * 64;
  for (Stream& stream : streams_) {
    if (stream.receives == 0) continue;
    stream.slots = std::clamp<std::size_t>(kSlotBytesOfStream / slot_bytes_, 1, kSlotsMax);
    stream.memory = std::make_unique<std::byte[]>(stream.slots * slot_bytes_);
  }
  return {};
}

void StreamProgram::join_alike() {
  constexpr std::size_t kNoGroup = ~std::size_t{0};
  for (OpState& state : states_) state.group = kNoGroup;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (program_.ops[i].role != MessageOp::Role::kSend || states_[i].group != kNoGroup) continue;
    const OpId id = program_.first_op + static_cast<OpId>(i);
    OpId one = id;
    for (; one != kNoOp && state(one).group == kNoGroup; one = op(one).alike) state(one).group = groups_.size();
    HOCKET_ASSERT(one == (op(id).alike == kNoOp ? kNoOp : id), "sends that are alike do not lead round to the first");
    groups_.push_back({longest_segment(op(id).end.cut), {}});
  }
}

/// Equal shares; where they would not hold a segment, as many as the memory has room for get one slot each. A segment
/// that takes more than a quarter of it would not be read while others are copied.
void StreamProgram::share_out(const BounceMemory& bounce) {
  const auto bounces = [&bounce](const Group& g) {
    return g.longest >= bounce.segment_min && g.longest <= bounce.bytes / 4;
  };
  const auto count = static_cast<std::size_t>(std::count_if(groups_.begin(), groups_.end(), bounces));
  std::size_t begin = 0;
  for (Group& group : groups_) {
    if (!bounces(group)) continue;
    const std::size_t slot = (group.longest + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    const std::size_t slots = std::clamp<std::size_t>(bounce.bytes / count / slot, 1, BounceSlots::kCountMax);
    if (begin + slots * slot > bounce.bytes) continue;
    group.slots = BounceSlots(begin, slot, slots);
    begin += slots * slot;
  }
}

void StreamProgram::fill_slots(Stream& stream) const {
  stream.free_count = stream.slots;
  for (std::size_t i = 0; i < stream.slots; ++i) stream.free[i] = stream.memory.get() + i * slot_bytes_;
}

void StreamProgram::restart() {
  for (OpState& state : states_) {
    state.memory = nullptr;
    state.offered = state.queued = state.arrived = state.lent = state.returned = state.cleared = 0;
    state.way.reset();
    state.listed = state.stalled = false;
  }
  for (Stream& stream : streams_) {
    stream.awaited = stream.receives;
    fill_slots(stream);
  }
}

std::byte* StreamProgram::place(OpId receive, std::uint32_t segment) {
  Stream& stream = streams_[state(receive).stream];
  if (stream.free_count > 0) return stream.free[--stream.free_count];
  if (overflow_ == nullptr) return nullptr;  // the plan receives no bytes
  return overflow_ + state(receive).overflow_begin + op(receive).end.cut.begin(segment);
}

void StreamProgram::give_back(OpId receive, std::uint32_t segment) {
  Stream& stream = streams_[state(receive).stream];
  const std::byte* where = kept(receive, segment);
  const std::byte* slots = stream.memory.get();
  if (stream.slots == 0 || where < slots || where >= slots + stream.slots * slot_bytes_) return;
  stream.free[stream.free_count++] = stream.memory.get() + (where - slots);
}

}  // namespace hocket

#include "transport/stream_program.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "net/frame.h"

namespace hocket {
namespace {

/// Plans that receive no more than this have no slots: their overflow stays in the caches anyway.
constexpr std::size_t kSmallBytes = std::size_t{256} << 10;
constexpr std::size_t kSlotBytesOfPeer = std::size_t{2} << 20;

std::size_t longest_segment(const Cut& cut) {
  std::int64_t longest = 0;  // lengths differ by at most one element, and the last one is never shorter
  for (const std::uint32_t s : {0U, cut.segments() - 1}) longest = std::max(longest, cut.length(s));
  return static_cast<std::size_t>(longest + cut.element_bytes());
}

}  // namespace

Result<std::unique_ptr<StreamProgram>> StreamProgram::make(MessageProgram program, std::uint32_t ranks) {
  std::unique_ptr<StreamProgram> made(new StreamProgram(std::move(program)));
  HOCKET_TRY(made->reserve(ranks));
  return made;
}

StreamProgram::~StreamProgram() {
  if (overflow_ != nullptr) ::munmap(overflow_, overflow_bytes_);
}

Result<void> StreamProgram::reserve(std::uint32_t ranks) {
  std::size_t places = 0;
  states_.resize(program_.ops.size());
  peers_.resize(ranks);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const MessageOp& op = program_.ops[i];
    if (op.role == MessageOp::Role::kNone) continue;
    peers_[op.end.peer].involved = true;
    peers_[op.end.peer].sends += op.role == MessageOp::Role::kSend ? 1 : 0;
    if (op.role != MessageOp::Role::kReceive) continue;
    peers_[op.end.peer].receives += op.end.cut.segments();
    states_[i].first_place = places;
    states_[i].overflow_begin = overflow_bytes_;
    places += op.end.cut.segments();
    overflow_bytes_ += static_cast<std::size_t>(op.end.cut.bytes());
    slot_bytes_ = std::max(slot_bytes_, longest_segment(op.end.cut));
  }
  if (slot_bytes_ > kFrameLengthMax)
    return fail(Code::kUnsupported, "segments of {} bytes: a frame holds {}", slot_bytes_, kFrameLengthMax);
  places_.resize(places);
  if (overflow_bytes_ == 0) return {};
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = ::mmap(nullptr, overflow_bytes_, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::kResourceExhausted, "no memory for {} bytes that may arrive early: {}", overflow_bytes_,
                std::generic_category().message(errno));
  overflow_ = static_cast<std::byte*>(memory);
  if (overflow_bytes_ <= kSmallBytes) return {};
  slot_bytes_ = (slot_bytes_ + 63) / 64 * 64;
  for (const MessageOp& op : program_.ops) {
    Peer& peer = peers_[op.end.peer];
    if (op.role != MessageOp::Role::kReceive || peer.slots > 0) continue;
    peer.slots = std::clamp<std::size_t>(kSlotBytesOfPeer / slot_bytes_, 1, kSlotsMax);
    peer.memory = std::make_unique<std::byte[]>(peer.slots * slot_bytes_);
  }
  return {};
}

void StreamProgram::fill_slots(Peer& peer) const {
  peer.free_count = peer.slots;
  for (std::size_t i = 0; i < peer.slots; ++i) peer.free[i] = peer.memory.get() + i * slot_bytes_;
}

void StreamProgram::restart() {
  for (OpState& state : states_) {
    state.memory = nullptr;
    state.offered = state.queued = state.arrived = state.lent = state.returned = 0;
    state.listed = false;
  }
  for (Peer& peer : peers_) {
    peer.awaited = peer.receives;
    fill_slots(peer);
  }
}

std::byte* StreamProgram::place(OpId receive, std::uint32_t segment) {
  const MessageOp& message = op(receive);
  Peer& peer = peers_[message.end.peer];
  if (peer.free_count > 0) return peer.free[--peer.free_count];
  if (overflow_ == nullptr) return nullptr;  // the plan receives no bytes
  return overflow_ + state(receive).overflow_begin + message.end.cut.begin(segment);
}

void StreamProgram::give_back(OpId receive, std::uint32_t segment) {
  Peer& peer = peers_[op(receive).end.peer];
  const std::byte* where = kept(receive, segment);
  const std::byte* slots = peer.memory.get();
  if (peer.slots == 0 || where < slots || where >= slots + peer.slots * slot_bytes_) return;
  peer.free[peer.free_count++] = peer.memory.get() + (where - slots);
}

}  // namespace hocket

// Board: memory in which each of some ranks shows all others short messages, one after another. A rank has two slots
// and uses them in turns: it shows message k + 2 only when all have shown k + 1, and so have read k.
// Who looks finds a message by its number on the board and the fingerprint of the call; a message with the number and
// another fingerprint belongs to a peer that is in another call. Short ones share a cache line with both.
// Ownership: the memory is shared and outlives the board. Threading: one owner per rank; ranks at the same time.
// Refuses (assert): messages above kBytesMax.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "base/hash.h"
#include "base/queue.h"

namespace hocket {

/// Begins as zero bytes.
struct BoardSlot {
  static constexpr std::size_t kBytesMax = std::size_t{8} << 10;
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> number{0};
  std::uint64_t call_high = 0;
  std::uint64_t call_low = 0;
  std::array<std::byte, kBytesMax> bytes{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "numbers are shared between processes");

/// Of one rank.
using BoardSlots = std::array<BoardSlot, 2>;

class Board {
 public:
  static constexpr std::size_t kBytesMax = BoardSlot::kBytesMax;

  Board() = default;
  /// `ranks`: the slots of all, by rank.
  Board(std::span<BoardSlots> ranks, std::uint32_t rank) : ranks_(ranks), rank_(rank) {}

  [[nodiscard]] bool exists() const { return !ranks_.empty(); }
  /// The next message of this rank, when all have shown the one before.
  void show(const Fingerprint& call, std::span<const std::byte> message) {
    HOCKET_ASSERT(message.size() <= kBytesMax, "a message that no place on the board holds");
    call_ = call;
    BoardSlot& slot = ranks_[rank_][++number_ % 2];
    slot.call_high = call.high;
    slot.call_low = call.low;
    if (!message.empty()) std::memcpy(slot.bytes.data(), message.data(), message.size());
    slot.number.store(number_, std::memory_order_seq_cst);
  }
  /// Has that rank shown its message of this rank's call?
  [[nodiscard]] bool shows(std::uint32_t rank) const {
    const BoardSlot& slot = slot_of(rank);
    return slot.number.load(std::memory_order_acquire) == number_ && is_of_call(slot);
  }
  /// It has shown one that belongs to another call.
  [[nodiscard]] bool differs(std::uint32_t rank) const {
    const BoardSlot& slot = slot_of(rank);
    return slot.number.load(std::memory_order_acquire) == number_ && !is_of_call(slot);
  }
  /// What it shows, until this rank shows its next.
  [[nodiscard]] const std::byte* message(std::uint32_t rank) const { return slot_of(rank).bytes.data(); }

 private:
  [[nodiscard]] const BoardSlot& slot_of(std::uint32_t rank) const { return ranks_[rank][number_ % 2]; }
  [[nodiscard]] bool is_of_call(const BoardSlot& slot) const {
    return slot.call_high == call_.high && slot.call_low == call_.low;
  }

  std::span<BoardSlots> ranks_;
  std::uint32_t rank_ = 0;
  std::uint64_t number_ = 0;
  Fingerprint call_;
};

}  // namespace hocket

// A stream of bytes from one process to another through memory both map: single producer, single consumer, positions
// that only grow. RingWriter and RingReader are the two ends; neither ever waits.
// Few bytes that are published at once lie beside the writer's position too: their reader, who looks at that all the
// time, has them with it and does not wait for another cache line.
// Both trust only their own position: the other end's is checked whenever it is read, and when it says more than the
// ring can hold the end is damaged for good and has neither room nor bytes.
// Ownership: the memory is the segment's and outlives both ends. Threading: one owner per end.
// Refuses: positions that make no sense.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/queue.h"

namespace hocket {

/// Begins as zero bytes.
struct RingPositions {
  static constexpr std::size_t kBesideWords = kCacheLineBytes / 8 - 1;
  /// A position below, the number of bytes beside it above, and at the top whether those are being changed.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> written{0};
  std::array<std::atomic<std::uint64_t>, kBesideWords> beside{};
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> taken{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "positions are shared between processes");

inline constexpr std::size_t kBesideBytes = RingPositions::kBesideWords * 8;
inline constexpr int kPositionBits = 56;
inline constexpr std::uint64_t kPositionMask = (std::uint64_t{1} << kPositionBits) - 1;
inline constexpr std::uint64_t kChanging = std::uint64_t{1} << 63;

using RingParts = std::array<std::span<std::byte>, 2>;

/// `length` bytes of a ring from `position` on: one part, or two when it wraps. The size is a power of two.
[[nodiscard]] inline RingParts ring_parts(std::span<std::byte> bytes, std::uint64_t position, std::size_t length) {
  const std::size_t at = static_cast<std::size_t>(position) & (bytes.size() - 1);
  const std::size_t first = length < bytes.size() - at ? length : bytes.size() - at;
  return {bytes.subspan(at, first), bytes.first(length - first)};
}

class RingWriter {
 public:
  RingWriter(RingPositions& positions, std::span<std::byte> bytes) : positions_(&positions), bytes_(bytes) {}

  /// Bytes that may be written now, if need be fewer than there is room for by now, but not fewer than `enough`.
  [[nodiscard]] std::size_t room(std::size_t enough) {
    const std::size_t known = bytes_.size() - static_cast<std::size_t>(written_ - taken_);
    return damaged_ ? 0 : known >= enough ? known : room();
  }
  /// Bytes that may be written now.
  [[nodiscard]] std::size_t room() {
    const std::uint64_t taken = positions_->taken.load(std::memory_order_seq_cst);
    damaged_ = damaged_ || taken < taken_ || taken > written_;
    if (damaged_) return 0;
    taken_ = taken;
    return bytes_.size() - static_cast<std::size_t>(written_ - taken_);
  }
  /// Where the next `length` bytes go; no more than room() said.
  [[nodiscard]] RingParts place(std::size_t length) const { return ring_parts(bytes_, written_, length); }
  void publish(std::size_t length) {
    const bool few = length <= kBesideBytes;
    if (few) put_beside(length);
    written_ += length;
    const std::uint64_t beside = few ? length : 0;
    positions_->written.store(written_ | beside << kPositionBits, std::memory_order_seq_cst);
    // The next short message finds its place in this core's cache, and does not wait for the reader's.
    for (std::size_t ahead = 0; ahead < 2; ++ahead)
      __builtin_prefetch(&bytes_[(written_ + ahead * kCacheLineBytes) & (bytes_.size() - 1)], 1);
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  void put_beside(std::size_t length) {
    std::array<std::uint64_t, RingPositions::kBesideWords> words{};
    std::size_t done = 0;
    for (const std::span<std::byte> part : place(length)) {
      if (!part.empty()) std::memcpy(reinterpret_cast<std::byte*>(words.data()) + done, part.data(), part.size());
      done += part.size();
    }
    // Who reads a new word reads a changed position after it.
    positions_->written.store(written_ | kChanging, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) positions_->beside[i].store(words[i], std::memory_order_release);
  }

  RingPositions* positions_;
  std::span<std::byte> bytes_;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;
  bool damaged_ = false;
};

class RingReader {
 public:
  RingReader(RingPositions& positions, std::span<std::byte> bytes) : positions_(&positions), bytes_(bytes) {}

  /// Bytes that may be read now.
  [[nodiscard]] std::size_t available() {
    const std::uint64_t word = positions_->written.load(std::memory_order_seq_cst);
    const std::uint64_t written = word & kPositionMask;
    damaged_ = damaged_ || written < written_ || written - taken_ > bytes_.size();
    if (damaged_) return 0;
    written_ = written;
    const auto length = static_cast<std::size_t>(written_ - taken_);
    beside_ = length > 0 && length <= kBesideBytes && word >> kPositionBits == length && copy_beside(word);
    return length;
  }
  /// The next `length` bytes; no more than available() said.
  [[nodiscard]] RingParts front(std::size_t length) {
    if (beside_) return {std::as_writable_bytes(std::span(words_)).first(length), std::span<std::byte>()};
    return ring_parts(bytes_, taken_, length);
  }
  /// True, and all in order with what follows, when a writer may have to be woken that waits for room: one that found
  /// none is woken within the next half of the ring that is taken.
  [[nodiscard]] bool consume(std::size_t length) {
    const std::size_t half = bytes_.size() / 2;
    const bool wakes = taken_ / half != (taken_ + length) / half;
    taken_ += length;
    beside_ = false;
    if (wakes) {
      positions_->taken.store(taken_, std::memory_order_seq_cst);
    } else {
      positions_->taken.store(taken_, std::memory_order_release);
    }
    return wakes;
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  /// False when the writer has changed them meanwhile.
  [[nodiscard]] bool copy_beside(std::uint64_t word) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = positions_->beside[i].load(std::memory_order_acquire);
    return positions_->written.load(std::memory_order_relaxed) == word;
  }

  RingPositions* positions_;
  std::span<std::byte> bytes_;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;
  std::array<std::uint64_t, RingPositions::kBesideWords> words_{};
  bool beside_ = false;  // words_ are all that is available
  bool damaged_ = false;
};

}  // namespace hocket

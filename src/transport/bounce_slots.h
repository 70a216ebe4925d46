// BounceSlots: the part of a rank's bounce memory in which sends of the same bytes put segments that peers have yet to
// read: slots of one length, given out round and round, so that memory is written again as late as can be: a core that
// writes what another one has in its cache waits for every line. A slot may have several readers and is free when all
// have given it back. Other sends have slots of their own, so that none waits for what another's peer has to do first.
// Ownership: offsets and words only. Threading: one owner; nothing is allocated after the first.
// Refuses: a slot while the next one is being read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "net/word.h"

namespace hocket {

/// Every rank's, for all its sends.
struct BounceMemory {
  std::size_t bytes = 0;
  std::size_t segment_min = 0;  // shorter segments go on the stream
};

class BounceSlots {
 public:
  static constexpr std::uint8_t kNone = 0xff;
  static constexpr std::size_t kCountMax = kNone;
  using Word = std::array<std::byte, 8>;

  BounceSlots() = default;
  /// In whole lines of the caches, from `begin` on.
  BounceSlots(std::size_t begin, std::size_t slot_bytes, std::size_t count) : slots_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      slots_[i].offset = begin + i * slot_bytes;
      put_word(slots_[i].word.data(), slots_[i].offset);
    }
  }

  [[nodiscard]] bool exist() const { return !slots_.empty(); }
  [[nodiscard]] std::optional<std::uint8_t> take() {
    if (slots_.empty() || slots_[next_].readers > 0) return std::nullopt;
    const auto slot = static_cast<std::uint8_t>(next_);
    slots_[slot].readers = 1;
    next_ = next_ + 1 == slots_.size() ? 0 : next_ + 1;
    return slot;
  }
  /// One more reads a slot that is taken.
  void share(std::uint8_t slot) { ++slots_[slot].readers; }
  void give_back(std::uint8_t slot) { --slots_[slot].readers; }
  [[nodiscard]] std::size_t offset(std::uint8_t slot) const { return slots_[slot].offset; }
  /// The offset, as it travels.
  [[nodiscard]] const Word& word(std::uint8_t slot) const { return slots_[slot].word; }

 private:
  struct Slot {
    std::size_t offset = 0;
    Word word{};
    std::uint32_t readers = 0;
  };

  std::vector<Slot> slots_;
  std::size_t next_ = 0;
};

}  // namespace hocket

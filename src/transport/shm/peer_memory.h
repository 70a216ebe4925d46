// PeerMemory: buffers of a peer that this process has mapped. A rank lists the memory that others may map in its part
// of the segment (SharedRanges); a reader maps a range when it first needs it, and again when the list says that
// something else lies there. Ownership: the mappings; what a peer has freed goes when that is noticed. Threading: one
// owner; the list has one writer, and changes only while no call uses the range that changes. Refuses: ranges that
// cannot be mapped (nothing is found there; the bytes come by another way), more than kMost ranges.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "transport/shared_range.h"

namespace hocket {

/// Begins as zero bytes.
class SharedRanges {
 public:
  static constexpr std::size_t kMost = 64;

  [[nodiscard]] Result<void> add(const SharedRange& range);
  /// Nothing when it is not there.
  void remove(const std::byte* begin);
  [[nodiscard]] bool holds(const std::byte* begin, std::size_t bytes) const;

 private:
  friend class PeerMemory;
  struct Entry {
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> bytes{0};  // 0: free
    std::atomic<std::int64_t> file{0};
    std::atomic<std::uint64_t> version{0};
  };
  std::array<Entry, kMost> entries_;
  std::atomic<std::uint32_t> used_{0};  // entries that were ever taken
};

class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(PeerMemory&&) noexcept = default;
  PeerMemory& operator=(PeerMemory&&) noexcept = default;
  ~PeerMemory();

  /// Bytes at an address of the process that wrote the list, here; null: not among what it lists.
  [[nodiscard]] const std::byte* find(const SharedRanges& ranges, std::int64_t process, std::uint64_t address,
                                      std::size_t bytes);

 private:
  struct Mapping {
    std::uint64_t version = 0;  // 0: none
    std::byte* memory = nullptr;
    std::size_t size = 0;
  };
  static void map(Mapping& mapping, std::int64_t process, std::int64_t file, std::size_t size);
  static void drop(Mapping& mapping);
  std::array<Mapping, SharedRanges::kMost> mappings_{};
};

}  // namespace hocket

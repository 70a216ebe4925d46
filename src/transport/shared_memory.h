// SharedMemory: memory for a caller's buffers that the other ranks of its host can map, so that what is sent from it is
// read where it lies, without a copy. It is a memfd without a name: nothing is left whichever process is killed when.
// A page before the caller's bytes says what they are, so that a bare pointer is enough to find and to free them.
// Ownership: the bytes, until release(); then who frees the pointer. Threading: one owner.
// Refuses: 0 bytes, memory the system does not have, freeing what is no such memory or still registered (an Error
// each).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "transport/shared_range.h"

namespace hocket {

class SharedMemory {
 public:
  /// Zero bytes, reserved.
  [[nodiscard]] static Result<SharedMemory> allocate(std::size_t bytes);
  /// The memory that begins there, if it is such memory; other pointers are not followed.
  [[nodiscard]] static std::optional<SharedRange> at(const void* begin);
  /// Frees what release() gave. Not while it is registered anywhere.
  [[nodiscard]] static Result<void> free(const void* begin);
  /// Counts the communicators that list a range: `by` more, or fewer.
  static void count_registrations(const SharedRange& range, int by);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] const SharedRange& range() const { return range_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {range_.begin, range_.bytes}; }
  /// Goes on without an owner.
  std::byte* release();

 private:
  explicit SharedMemory(const SharedRange& range) : range_(range) {}
  SharedRange range_;
};

/// Where the bytes begin in the memfd.
inline constexpr std::size_t kSharedMemoryOffset = 4096;

}  // namespace hocket

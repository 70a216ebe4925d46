// SharedRange: bytes of this process that lie in a file which other processes of the host can map: what a transport
// needs to know of them. Made by SharedMemory (shared_memory.h).
// Ownership: refers to SharedMemory. Threading: a value. Refuses: nothing.
#pragma once

#include <cstddef>

namespace hocket {

struct SharedRange {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  int file = -1;  // of this process; the bytes begin at kSharedMemoryOffset
};

}  // namespace hocket

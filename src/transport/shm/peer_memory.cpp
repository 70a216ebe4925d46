#include "transport/shm/peer_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "net/descriptor.h"
#include "transport/shared_memory.h"

namespace hocket {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

Result<void> SharedRanges::add(const SharedRange& range) {
  const auto free = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.bytes.load() == 0; });
  if (free == entries_.end())
    return fail(Code::kResourceExhausted, "{} ranges of memory are registered: there is no room for more", kMost);
  free->begin.store(reinterpret_cast<std::uintptr_t>(range.begin), kRelaxed);
  free->file.store(range.file, kRelaxed);
  free->version.fetch_add(1, kRelaxed);
  free->bytes.store(range.bytes, std::memory_order_release);
  const auto count = static_cast<std::uint32_t>(free - entries_.begin() + 1);
  used_.store(std::max(used_.load(kRelaxed), count), std::memory_order_release);
  return {};
}

void SharedRanges::remove(const std::byte* begin) {
  for (Entry& entry : entries_) {
    if (entry.begin.load(kRelaxed) == reinterpret_cast<std::uintptr_t>(begin)) entry.bytes.store(0);
  }
}

bool SharedRanges::holds(const std::byte* begin, std::size_t bytes) const {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(begin));
  const std::uint32_t used = used_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t size = entries_[i].bytes.load(std::memory_order_acquire);
    const std::uint64_t offset = address - entries_[i].begin.load(kRelaxed);
    if (offset < size && bytes <= size - offset) return true;
  }
  return false;
}

PeerMemory::~PeerMemory() {
  for (Mapping& mapping : mappings_) drop(mapping);
}

void PeerMemory::drop(Mapping& mapping) {
  if (mapping.memory != nullptr) ::munmap(mapping.memory, mapping.size);
  mapping = {};
}

void PeerMemory::map(Mapping& mapping, std::int64_t process, std::int64_t file, std::size_t size) {
  const std::string where = fmt::format("/proc/{}/fd/{}", process, file);
  const Descriptor opened(::open(where.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool whole = opened.open() && ::fstat(opened.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<std::uint64_t>(status.st_size) == size &&
                     (::fcntl(opened.get(), F_GET_SEALS) & F_SEAL_SHRINK) != 0;
  if (!whole) return;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, opened.get(), 0);
  if (memory == MAP_FAILED) return;
  mapping.memory = static_cast<std::byte*>(memory);
  mapping.size = size;
}

const std::byte* PeerMemory::find(const SharedRanges& ranges, std::int64_t process, std::uint64_t address,
                                  std::size_t bytes) {
  const std::uint32_t used = std::min<std::uint32_t>(ranges.used_.load(std::memory_order_acquire), SharedRanges::kMost);
  for (std::uint32_t i = 0; i < used; ++i) {
    const SharedRanges::Entry& entry = ranges.entries_[i];
    const std::uint64_t size = entry.bytes.load(std::memory_order_acquire);
    const std::uint64_t offset = address - entry.begin.load(kRelaxed);
    if (offset >= size || bytes > size - offset) continue;
    Mapping& mapping = mappings_[i];
    const std::uint64_t version = entry.version.load(kRelaxed);
    if (mapping.version != version) {
      drop(mapping);
      map(mapping, process, entry.file.load(kRelaxed), static_cast<std::size_t>(size) + kSharedMemoryOffset);
      mapping.version = version;  // also when that failed: it is not tried again
    }
    return mapping.memory == nullptr ? nullptr : mapping.memory + kSharedMemoryOffset + offset;
  }
  return nullptr;
}

}  // namespace hocket

#include "transport/shared_memory.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "net/socket.h"
#include "transport/sealed_memory.h"

namespace hocket {
namespace {

constexpr std::uint64_t kMagic = 0x686f636b65740002ULL;

struct Head {
  std::uint64_t magic = 0;
  std::uint64_t begin = 0;  // the caller's bytes in the process that made them
  std::uint64_t bytes = 0;
  std::int64_t process = 0;
  std::int64_t file = -1;
  std::int64_t registrations = 0;
};
static_assert(sizeof(Head) <= kSharedMemoryOffset);

/// Without following a pointer that may lead nowhere.
bool read_head(const void* begin, Head& head) {
  const iovec here{&head, sizeof(head)};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): may be no address of this process
  const iovec there{reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(begin) - kSharedMemoryOffset),
                    sizeof(head)};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof(head));
}

Head& head_of(const SharedRange& range) { return *reinterpret_cast<Head*>(range.begin - kSharedMemoryOffset); }

}  // namespace

Result<SharedMemory> SharedMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return fail(Code::kInvalidArgument, "0 bytes of shared memory");
  const std::size_t all = bytes + kSharedMemoryOffset;
  if (all < bytes) return fail(Code::kResourceExhausted, "no {} bytes of shared memory", bytes);
  HOCKET_TRY_ASSIGN(Descriptor file, sealed_memory("hocket-buffers", all, all));
  void* memory = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  if (memory == MAP_FAILED)
    return fail(Code::kResourceExhausted, "cannot map {} bytes of shared memory: {}", bytes, system_words(errno));
  std::byte* const begin = static_cast<std::byte*>(memory) + kSharedMemoryOffset;
  ::madvise(memory, all, MADV_HUGEPAGE);  // where the system has them for shared memory
  *static_cast<Head*>(memory) = {kMagic, reinterpret_cast<std::uintptr_t>(begin), bytes, ::getpid(), file.get(), 0};
  return SharedMemory({begin, bytes, file.release()});
}

std::optional<SharedRange> SharedMemory::at(const void* begin) {
  Head head;
  const bool ours = read_head(begin, head) && head.magic == kMagic && head.process == ::getpid() &&
                    head.begin == reinterpret_cast<std::uintptr_t>(begin);
  if (!ours) return std::nullopt;
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(begin));
  return SharedRange{bytes, static_cast<std::size_t>(head.bytes), static_cast<int>(head.file)};
}

Result<void> SharedMemory::free(const void* begin) {
  const std::optional<SharedRange> range = at(begin);
  if (!range) return fail(Code::kInvalidArgument, "{} is not the beginning of memory made to be shared", begin);
  const std::int64_t count = std::atomic_ref(head_of(*range).registrations).load();
  if (count > 0)
    return fail(Code::kInvalidArgument, "{} of {} bytes cannot be freed: {} communicators have it registered", begin,
                range->bytes, count);
  const SharedMemory goes(*range);
  return {};
}

void SharedMemory::count_registrations(const SharedRange& range, int by) {
  std::atomic_ref(head_of(range).registrations).fetch_add(by);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept : range_(std::exchange(other.range_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(range_, other.range_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (range_.begin == nullptr) return;
  ::munmap(range_.begin - kSharedMemoryOffset, range_.bytes + kSharedMemoryOffset);
  ::close(range_.file);
}

std::byte* SharedMemory::release() { return std::exchange(range_, {}).begin; }

}  // namespace hocket

#include "transport/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/available_memory.h"
#include "net/socket.h"

namespace hocket {
namespace {

Result<void> check_length(std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return {};
  return fail(Code::kResourceExhausted, "no {} bytes of shared memory: files of this process may have {} (ulimit -f)",
              bytes, limit.rlim_cur);
}

/// Whoever takes memory that is not there is ended by the system instead of being told.
Result<void> check_available(std::size_t bytes) {
  const std::optional<AvailableMemory> available = available_memory();
  if (!available || static_cast<double>(bytes) <= available->bytes) return {};
  return fail(Code::kResourceExhausted, "no {} bytes of shared memory: {}", bytes, available->text());
}

}  // namespace

Result<Descriptor> sealed_memory(const char* name, std::size_t bytes, std::size_t reserved) {
  HOCKET_TRY(check_length(bytes));
  HOCKET_TRY(check_available(reserved));
  Descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) return fail(Code::kUnsupported, "the system has no memfd: {}", system_words(errno));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail(Code::kResourceExhausted, "no {} bytes of shared memory: {}", bytes, system_words(errno));
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(reserved)); error != 0)
    return fail(Code::kResourceExhausted, "no {} bytes of shared memory: {}", bytes, system_words(error));
  return file;
}

}  // namespace hocket

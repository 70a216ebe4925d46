#include "lab/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "net/socket.h"

namespace hocket {

Result<MemoryFile> MemoryFile::make(std::string_view text) {
  Descriptor file(::memfd_create("hocket-lab", MFD_CLOEXEC));
  if (!file.open() || ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(Code::kResourceExhausted, "no file in memory: {}", system_words(errno));
  return MemoryFile(std::move(file));
}

std::string MemoryFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor()); }

std::string MemoryFile::text() const {
  struct stat about {};
  if (::fstat(descriptor(), &about) != 0) return {};
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = ::pread(descriptor(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

}  // namespace hocket

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hocket {
namespace {

constexpr mode_t kUsualMode = 0666;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// Closing may report a late write error.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

tl::unexpected<Error> system_error(const std::string& path) {
  return fail(Code::kIo, "{}: {}", path, std::generic_category().message(errno));
}

/// Users of other tools expect standard output of it, and would look for their result there.
Result<void> refuse_dash(const std::string& path) {
  if (path != "-") return {};
  return fail(Code::kInvalidArgument, "-: would be a file of that name (./-); /dev/stdout is standard output");
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Where the bytes really go: the end of a chain of symbolic links, also when nothing is there yet.
std::string target_of(const std::string& path) {
  std::error_code error;
  std::filesystem::path at = path;
  constexpr int kLinksMax = 40;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(at, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> write_through(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), bytes) || !file.close()) return system_error(path);
  return {};
}

/// Gives `written` its name. A link cannot replace a file, so it takes a name of its own and is renamed at once.
Result<void> put_in_place(int written, const std::string& target, const std::string& path) {
  const std::string temporary = fmt::format("{}.{}.part", target, ::getpid());
  const std::string self = fmt::format("/proc/self/fd/{}", written);
  ::unlink(temporary.c_str());
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) return system_error(path);
  if (std::rename(temporary.c_str(), target.c_str()) == 0) return {};
  const tl::unexpected<Error> error = system_error(path);
  ::unlink(temporary.c_str());
  return error;
}

/// For file systems without nameless files: under a temporary name, which a signal may leave behind.
Result<void> write_named(const std::string& target, std::string_view bytes, mode_t mode, const std::string& path) {
  const std::string temporary = fmt::format("{}.{}.part", target, ::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (file.get() < 0) return system_error(path);
  if (write_all(file.get(), bytes) && file.close() && std::rename(temporary.c_str(), target.c_str()) == 0) return {};
  const tl::unexpected<Error> error = system_error(path);
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view bytes) {
  HOCKET_TRY(refuse_dash(path));
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) return write_through(path, bytes);
  const std::string target = target_of(path);
  Descriptor file(::open(folder_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kUsualMode));
  if (file.get() < 0) {
    const bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
    if (!unsupported) return system_error(path);
    return write_named(target, bytes, exists ? status.st_mode & 07777 : kUsualMode, path);
  }
  if (!write_all(file.get(), bytes)) return system_error(path);
  if (exists && ::fchmod(file.get(), status.st_mode & 07777) != 0) return system_error(path);
  return put_in_place(file.get(), target, path);
}

Result<void> check_writable(const std::string& path) {
  if (path.empty()) return fail(Code::kInvalidArgument, "the name of the file to write is empty");
  HOCKET_TRY(refuse_dash(path));
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return fail(Code::kIo, "{}: is a folder", path);
    if (!S_ISREG(status.st_mode)) return {};
  }
  if (::access(folder_of(target_of(path)).c_str(), W_OK | X_OK) != 0) return system_error(path);
  return {};
}

}  // namespace hocket

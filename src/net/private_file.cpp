#include "net/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "net/descriptor.h"
#include "net/socket.h"

namespace hocket {
namespace {

constexpr std::size_t kBytesMax = 4096;

/// Devices, pipes and links are nobody's to replace, and some of them cannot be looked at without waiting.
Result<void> check_regular(const std::string& path, const struct stat& found) {
  if (S_ISREG(found.st_mode)) return {};
  return fail(Code::kInvalidArgument, "'{}' is no regular file", path);
}

Result<void> check_private(const std::string& path, const struct stat& found) {
  if (found.st_uid == geteuid() && (found.st_mode & 077) == 0) return {};
  return fail(Code::kInvalidArgument, "'{}' belongs to user {} with mode {:o}; it must be ours ({}) alone", path,
              found.st_uid, found.st_mode & 0777, geteuid());
}

}  // namespace

std::string private_base() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe): before any thread
  std::error_code error;
  if (runtime != nullptr && std::filesystem::is_directory(runtime, error)) return runtime;
  const std::string temporary = std::filesystem::temp_directory_path(error).string();
  return error ? "/tmp" : temporary;
}

Result<std::string> private_path(const std::string& job) {
  const std::string folder = fmt::format("{}/hocket-{}", private_base(), geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Code::kIo, "cannot make the folder '{}': {}", folder, system_words(errno));
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return fail(Code::kIo, "'{}': {}", folder, system_words(errno));
  if (!S_ISDIR(found.st_mode)) return fail(Code::kInvalidArgument, "'{}' is not a folder", folder);
  HOCKET_TRY(check_private(folder, found));
  std::string name = job.substr(0, 200);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  return folder + "/" + name;
}

Result<PrivateFile> PrivateFile::write(std::string path, const std::string& text, Folder folder) {
  const std::string fresh = fmt::format("{}.{}", path, getpid());
  if (folder == Folder::kOurs) ::unlink(fresh.c_str());
  constexpr int kMode = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::open(fresh.c_str(), kMode, 0600));
  if (!file.open() && errno == ENOENT && folder == Folder::kOurs) {  // another job has just removed the empty folder
    ::mkdir(std::filesystem::path(path).parent_path().c_str(), 0700);
    file.reset(::open(fresh.c_str(), kMode, 0600));
  }
  if (!file.open()) return fail(Code::kIo, "cannot write '{}': {}", path, system_words(errno));
  const bool whole = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return fail(Code::kIo, "cannot write '{}': {}", path, system_words(error));
  }
  return PrivateFile(std::move(path), folder);
}

PrivateFile::PrivateFile(PrivateFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), folder_(other.folder_) {}

PrivateFile& PrivateFile::operator=(PrivateFile&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    folder_ = other.folder_;
  }
  return *this;
}

void PrivateFile::remove() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  if (folder_ == Folder::kOurs)
    ::rmdir(std::filesystem::path(path_).parent_path().c_str());  // stays while other jobs have files there
  path_.clear();
}

Result<std::optional<std::string>> read_private(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) HOCKET_TRY(check_regular(path, found));
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open() && errno == ENOENT) return std::optional<std::string>();
  if (!file.open()) return fail(Code::kIo, "cannot read '{}': {}", path, system_words(errno));
  if (::fstat(file.get(), &found) != 0) return fail(Code::kIo, "'{}': {}", path, system_words(errno));
  HOCKET_TRY(check_regular(path, found));
  HOCKET_TRY(check_private(path, found));
  std::array<char, kBytesMax> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return fail(Code::kIo, "cannot read '{}': {}", path, system_words(errno));
  return std::optional(std::string(text.data(), static_cast<std::size_t>(got)));
}

}  // namespace hocket

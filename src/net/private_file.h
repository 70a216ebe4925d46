// PrivateFile: how the ranks of one host find rank 0 when the launcher does not say where it is, and how they share a
// secret that nobody gave: a small file that only this user can read, in a folder that only this user can enter.
// Rank 0 writes it when it listens and removes it when everybody has come. Users may name the file themselves, on
// storage that several hosts share. Ownership: the writer removes the file. Threading: one owner. Refuses: folders and
// files that others own or can read (an Error naming owner and mode), and what is no regular file, without waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hocket {

/// Where they lie: $XDG_RUNTIME_DIR, else $TMPDIR (or TMP, TEMP, TEMPDIR), else /tmp: the first that is a folder.
[[nodiscard]] std::string private_base();

/// "$XDG_RUNTIME_DIR/hocket-1000/pmix-1234": characters outside letters, digits, '-' and '.' become '_'.
[[nodiscard]] Result<std::string> private_path(const std::string& job);

class PrivateFile {
 public:
  PrivateFile() = default;
  /// kOurs: the folder goes with its last file. What is there is replaced: whoever names a file has looked before.
  enum class Folder : std::uint8_t { kOurs, kOfUser };
  [[nodiscard]] static Result<PrivateFile> write(std::string path, const std::string& text, Folder folder);
  PrivateFile(PrivateFile&& other) noexcept;
  PrivateFile& operator=(PrivateFile&& other) noexcept;
  ~PrivateFile() { remove(); }

  void remove();
  [[nodiscard]] bool is_left() const { return !path_.empty(); }

 private:
  PrivateFile(std::string path, Folder folder) : path_(std::move(path)), folder_(folder) {}
  std::string path_;
  Folder folder_ = Folder::kOurs;
};

/// Nothing while there is no such file.
[[nodiscard]] Result<std::optional<std::string>> read_private(const std::string& path);

}  // namespace hocket

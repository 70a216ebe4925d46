// Files we write: all or nothing. A regular file is written beside its place without a name, then put there in one
// step, so that neither an error nor a signal leaves half of it or a stray behind; it keeps the mode of the file it
// replaces. Symbolic links are followed; a device or pipe is written straight through. Threading: pure functions.
// Refuses: folders, places that cannot be written (kIo, with the system's words), the word - (kInvalidArgument).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view bytes);

/// What write_file() would refuse before it has bytes: an empty path, the word -, a folder, a folder that is missing or
/// closed.
/// For callers who work long before they write.
[[nodiscard]] Result<void> check_writable(const std::string& path);

}  // namespace hocket

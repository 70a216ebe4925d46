// hocket verify --windows: holes and overlaps in a table of size windows, ours or foreign, or in a folder of files, as
// lines of text or a JSON document.
// Ownership: none. Threading: reads files, prints to stdout, one owner. Refuses: what read_size_table() refuses.
#pragma once

#include <string>

#include "base/result.h"

namespace hocket {

/// Returns the exit status: 0 nothing found, 1 something is.
[[nodiscard]] Result<int> lint_windows(const std::string& path, bool json);

}  // namespace hocket

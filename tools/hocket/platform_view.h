// What `hocket info platform X` prints: every figure of a platform with its source, those without one named below.
// Text, JSON (the unit stands in the key) or the YAML that is read again.
// Ownership: none. Threading: prints to stdout, one owner.
// Refuses: what load_platform() does.
#pragma once

#include <string>

#include "base/result.h"

namespace hocket {

[[nodiscard]] Result<int> show_platform(const std::string& words_or_path, bool json, bool yaml);

}  // namespace hocket

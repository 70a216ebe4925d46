// What `hocket info platform X` prints: every figure of a platform with its source, those without one named below.
// Text, JSON (the unit stands in the key) or the YAML that is read again. What was imported says key by key what became
// of it. Ownership: none. Threading: prints to stdout, one owner. Refuses: what load_platform() does.
#pragma once

#include "exchange/load_platform.h"

namespace hocket {

[[nodiscard]] Result<int> show_platform(const PlatformFiles& files, bool json, bool yaml);

}  // namespace hocket

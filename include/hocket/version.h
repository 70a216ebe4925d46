#pragma once

// The version of the linked hocket library, "MAJOR.MINOR.PATCH".
// The text is a literal of the library: it lives for ever and any thread may read it.
// Before 1.0.0 a new minor version may change the interface.

#include <string_view>

namespace hocket {

std::string_view version();

}  // namespace hocket

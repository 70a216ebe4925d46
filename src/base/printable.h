// printable(): text that came from outside, fit for a line on a terminal: a control character becomes its number
// ("\x1b"), so that a name in a file can neither colour the screen nor break a line; all but `kept`. The rest stays as
// it is. Ownership: returns a copy. Threading: pure function. Refuses: nothing.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace hocket {

[[nodiscard]] inline std::string printable(std::string_view text, char kept = 0) {
  std::string shown;
  shown.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 || byte == 0x7f) && (kept == 0 || c != kept)) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

}  // namespace hocket

// Text made safe for a page: names come from files and may hold anything.
// Ownership: returns text. Threading: pure functions.
// Refuses: nothing; bytes that are not UTF-8 and characters HTML forbids become U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hocket {

/// Safe as element content and inside a quoted attribute.
[[nodiscard]] std::string escape_html(std::string_view text);

/// A document as the content of a script element: no '<' is left in it, so that nothing can close the element.
[[nodiscard]] std::string embed_json(const nlohmann::ordered_json& document);

}  // namespace hocket

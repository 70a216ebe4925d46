// Where a byte of a text is, as people count: line and column from 1. The root element of XML-like text. Text of others
// as one line that does nothing to a terminal. Ownership: views into the caller's text. Threading: pure functions.
// Refuses nothing: offsets past the end mean the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

[[nodiscard]] TextPlace place_of(std::string_view text, std::size_t offset);

/// The name of the first element behind declarations and comments; empty when the text does not begin like XML.
[[nodiscard]] std::string_view root_element(std::string_view text);

/// Control characters as \x1b, everything else as it is.
[[nodiscard]] std::string printable(std::string_view text);

/// The result, its error made printable: messages quote files that others wrote.
template <class T>
[[nodiscard]] Result<T> with_printable_error(Result<T> result) {
  if (!result) result.error().text = printable(result.error().text);
  return result;
}

}  // namespace hocket

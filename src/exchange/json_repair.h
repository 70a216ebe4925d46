// repair_json(): makes JSON of what profilers write when they break: a value that is missing, a raw control character
// or a byte that is no UTF-8 in a string, NaN, a comma before a closing bracket, brackets never closed, a text cut
// anywhere. Of a cut text everything is kept up to the last whole element of the outermost list; the rest is dropped
// and said. Nothing is guessed: what fits none of these stays as it is, for the parser to refuse. Ownership: the result
// owns its text. Threading: pure function. Refuses: nesting over 128 (returns the text as it is).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hocket {

struct JsonRepair {
  std::size_t at = 0;  // byte of the original
  std::string what;    // "a missing value"
  std::string how;     // "read as null"
};

struct RepairedJson {
  static constexpr std::size_t kKeptMax = 64;

  std::string text;
  std::vector<JsonRepair> repairs;  // the first kKeptMax
  std::size_t count = 0;            // all of them
};

[[nodiscard]] RepairedJson repair_json(std::string_view text);

}  // namespace hocket

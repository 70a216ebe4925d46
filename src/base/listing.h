// Listing: what keeps a list in a text readable where there may be hundreds of names: the first few are written out,
// then how many more there are. For errors, which travel from rank to rank.
// Ownership: nothing. Threading: pure functions. Refuses: nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace hocket {

/// Of a list in one text.
inline constexpr std::size_t kListedMax = 8;

/// How many of `count` are to be written out.
[[nodiscard]] inline std::size_t listed_of(std::size_t count) { return std::min(count, kListedMax); }

/// What stands behind those: " and 42 more"; empty when there are none.
[[nodiscard]] inline std::string and_more(std::size_t count) {
  return count <= kListedMax ? std::string() : " and " + std::to_string(count - kListedMax) + " more";
}

}  // namespace hocket

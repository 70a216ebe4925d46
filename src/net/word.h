// Words of 8 bytes as they travel in what ranks say to each other: little-endian.
// Ownership: none. Threading: pure functions.
// Refuses: nothing; the caller has 8 bytes there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket {

[[nodiscard]] inline std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return word;
}

inline void put_word(std::byte* at, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) at[i] = static_cast<std::byte>(word >> (8 * i));
}

}  // namespace hocket

// The words between StoreClient and StoreServer, as pure functions.
//   request  length u32, then: 'S' key-length u16 key value   |   'G' milliseconds u32 key
//   reply    length u32, then: '+' value   |   '-' (not there in time)   |   '!' words (refused)
//   unasked  length u32, then: '=' name of the rank that serves, first of all   |   '*' words of a failure
//            |   '.' (the server ends in order)
// Little-endian. Threading: pure functions. Refuses: requests beyond kStoreRequestMax or cut short (nothing comes
// back).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket {

inline constexpr std::size_t kStoreKeyMax = 256;
inline constexpr std::size_t kStoreValueMax = std::size_t{64} << 10;
inline constexpr std::size_t kStoreRequestMax = kStoreValueMax + kStoreKeyMax + 3;

struct StoreRequest {
  bool sets = false;
  std::uint32_t wait_ms = 0;
  std::string_view key;
  std::string_view value;
};

/// With the length in front.
[[nodiscard]] std::string spell_request(const StoreRequest& request);
[[nodiscard]] std::string spell_reply(char verdict, std::string_view text);
/// Of the bytes after the length; the views point into them.
[[nodiscard]] std::optional<StoreRequest> read_request(std::string_view body);
/// The length in front of `wire`, once four bytes are there.
[[nodiscard]] std::optional<std::uint32_t> read_length(std::string_view wire);

}  // namespace hocket

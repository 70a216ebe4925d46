// JSON text as a tree, with errors that carry line and column. nlohmann-json throws; nothing leaves here as an
// exception. Ownership: the result owns its tree. Threading: pure functions. Refuses: malformed JSON, nesting over 64,
// keys that stand twice in one object, text over the limit.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

inline constexpr std::size_t kJsonTextMax = std::size_t{16} << 20;

[[nodiscard]] Result<nlohmann::ordered_json> parse_json(std::string_view text, std::string_view file_name,
                                                        std::size_t bytes_max = kJsonTextMax);

/// True when the text begins with '{' and holds "key" with a colon behind it.
[[nodiscard]] bool has_json_key(std::string_view text, std::string_view key);

/// "line 3" of the first `"key":`, for loss reports.
[[nodiscard]] std::string json_line(std::string_view text, std::string_view key);

}  // namespace hocket

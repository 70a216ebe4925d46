// What attributes of Chakra nodes say, whatever integer type they were written with, and the words for writing them.
// Ownership: views into the node. Threading: pure functions. Refuses: attributes of another type than the one asked
// for, with the node.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/chakra.h"

namespace hocket {

/// Attributes of our own: exact times and the types of data.
inline constexpr std::string_view kChakraTime = "hocket_time_ps";
inline constexpr std::string_view kChakraType = "hocket_data_type";

/// Nothing when the attribute is not there.
[[nodiscard]] Result<std::optional<std::uint64_t>> chakra_number(const ChakraNode& node, std::string_view name);
[[nodiscard]] Result<std::optional<std::string>> chakra_text(const ChakraNode& node, std::string_view name);
/// A list of yes and no (involved_dim).
[[nodiscard]] Result<std::optional<std::vector<bool>>> chakra_flags(const ChakraNode& node, std::string_view name);

[[nodiscard]] ChakraAttribute chakra_int64(std::string name, std::uint64_t value);
[[nodiscard]] ChakraAttribute chakra_int32(std::string name, std::uint64_t value);
[[nodiscard]] ChakraAttribute chakra_uint64(std::string name, std::uint64_t value);
[[nodiscard]] ChakraAttribute chakra_bool(std::string name, bool value);
[[nodiscard]] ChakraAttribute chakra_string(std::string name, std::string value);

}  // namespace hocket

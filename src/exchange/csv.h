// Comma-separated rows with optional quotes: "a,b" and "" inside quotes, blanks around fields dropped outside them.
// Every field knows its column, for messages. Written names read back exactly.
// Ownership: plain values. Threading: pure functions.
// Refuses: a quote that is not closed or is followed by text (reported by column); names with line breaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

inline constexpr std::size_t kCsvFieldsMax = 64;

struct CsvField {
  std::string text;
  std::size_t column = 1;
  bool quoted = false;
};

/// The fields of one line, or the column where it is broken.
[[nodiscard]] tl::expected<std::vector<CsvField>, std::size_t> split_csv(std::string_view line);

/// Without blanks and a carriage return at the ends.
[[nodiscard]] std::string_view trim_blanks(std::string_view text);

/// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// A whole decimal number, or nothing.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view text);

/// The text as one field, in quotes where it needs them or where `force_quotes` says so.
[[nodiscard]] Result<std::string> csv_field(std::string_view text, bool force_quotes);

/// A line of fields, of which any may be empty.
[[nodiscard]] Result<std::string> csv_line(const std::vector<std::string>& fields);

}  // namespace hocket

#include "exchange/csv.h"

#include <algorithm>
#include <charconv>

namespace hocket {
namespace {

/// Reads one field from `line` at `at`, leaving `at` behind its comma (or at npos at the end). Empty: a broken quote.
std::optional<CsvField> next_field(std::string_view line, std::size_t& at) {
  CsvField field;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  field.column = at + 1;
  if (at < line.size() && line[at] == '"') {
    field.quoted = true;
    for (++at;; ++at) {
      if (at >= line.size()) return std::nullopt;
      if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
      if (line[at] == '"') ++at;
      field.text += line[at];
    }
    const std::size_t comma = std::min(line.find(',', ++at), line.size());
    if (!trim_blanks(line.substr(at, comma - at)).empty()) return std::nullopt;
    at = comma == line.size() ? std::string_view::npos : comma + 1;
    return field;
  }
  const std::size_t comma = std::min(line.find(',', at), line.size());
  field.text = trim_blanks(line.substr(at, comma - at));
  at = comma == line.size() ? std::string_view::npos : comma + 1;
  return field;
}

}  // namespace

tl::expected<std::vector<CsvField>, std::size_t> split_csv(std::string_view line) {
  std::vector<CsvField> fields;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t column = at + 1;
    std::optional<CsvField> field = next_field(line, at);
    if (!field || fields.size() == kCsvFieldsMax) return tl::unexpected(column);
    fields.push_back(std::move(*field));
  }
  return fields;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::string> csv_field(std::string_view text, bool force_quotes) {
  if (text.empty() || text.find_first_of("\n\r") != std::string_view::npos) {
    return fail(Code::kUnsupported, "name '{}' cannot stand in a CSV file", text);
  }
  if (!force_quotes && text.find_first_of(",\"# \t") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Result<std::string> csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    if (field.empty()) continue;
    HOCKET_TRY_ASSIGN(const std::string written, csv_field(field, false));
    line += written;
  }
  return line + '\n';
}

}  // namespace hocket

#include "exchange/yaml_text.h"

#include <algorithm>
#include <set>

namespace hocket {
namespace {

/// Length of the UTF-8 sequence at `at`, 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  }
  const auto second = length > 1 ? static_cast<unsigned char>(text[at + 1]) : 0U;
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

Result<YAML::Node> parse_yaml_map(std::string_view text, std::string_view file_name) {
  return guard_yaml(file_name, [&]() -> Result<YAML::Node> {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) return fail(Code::kMalformed, "{}: not a YAML map of keys and values", file_name);
    std::set<std::string> keys;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar())
        return fail(Code::kMalformed, "{}: a key is not a word", yaml_place(entry.first, file_name));
      if (!keys.insert(entry.first.Scalar()).second) {
        return fail(Code::kMalformed, "{}: key '{}' stands twice", yaml_place(entry.first, file_name),
                    entry.first.Scalar().substr(0, 80));
      }
    }
    return root;
  });
}

std::string yaml_place(const YAML::Node& node, std::string_view file_name) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? std::string(file_name) : fmt::format("{}:{}:{}", file_name, mark.line + 1, mark.column + 1);
}

bool has_yaml_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::size_t before = at, after = at + key.size();
    if (before > 0 && (text[before - 1] == '"' || text[before - 1] == '\'')) --before;
    if (after < text.size() && (text[after] == '"' || text[after] == '\'')) ++after;
    while (after < text.size() && text[after] == ' ') ++after;
    const bool begins = before == 0 || text[before - 1] == '\n' || text[before - 1] == '\r';
    std::size_t start = before;
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\n' || text[start - 1] == '\r')) --start;
    const bool in_braces = start > 0 && (text[start - 1] == '{' || text[start - 1] == ',');
    if ((begins || in_braces) && after < text.size() && text[after] == ':') return true;
  }
  return false;
}

Result<std::string> yaml_quoted(std::string_view name) {
  std::string out = "\"";
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = utf8_length(name, i);
    const auto c = static_cast<unsigned char>(name[i]);
    const bool control =
        c < 0x20 || c == 0x7F || (c == 0xC2 && length == 2 && static_cast<unsigned char>(name[i + 1]) < 0xA0);
    const bool mark = length == 3 && (name.substr(i, 3) == "\xEF\xBB\xBF" || name.substr(i, 3) == "\xEF\xBF\xBF" ||
                                      name.substr(i, 3) == "\xEF\xBF\xBE" || name.substr(i, 3) == "\xE2\x80\xA8" ||
                                      name.substr(i, 3) == "\xE2\x80\xA9");
    if (length == 0 || control || mark) {
      return fail(Code::kUnsupported, "a name of {} bytes cannot stand in YAML: byte {} of it is {:#04x}", name.size(),
                  i, c);
    }
    if (c == '"' || c == '\\') out += '\\';
    out += name.substr(i, length);
    i += length;
  }
  return out + '"';
}

}  // namespace hocket

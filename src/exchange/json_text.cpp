#include "exchange/json_text.h"

#include <algorithm>
#include <set>

#include "exchange/text_place.h"

namespace hocket {
namespace {

constexpr int kNestingMax = 64;

std::size_t find_key(std::string_view text, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const std::size_t colon = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (colon != std::string_view::npos && text[colon] == ':') return at;
  }
  return std::string_view::npos;
}

/// A number that no double holds; what the parser says of it ends in the number in quotes, without its place.
tl::unexpected<Error> too_large(std::string_view text, std::string_view file_name, std::string_view said) {
  const std::size_t open = said.find('\'');
  const std::string_view number = open == std::string_view::npos ? "" : said.substr(open + 1, said.size() - open - 2);
  const TextPlace place = place_of(text, std::min(text.find(number), text.size()));
  return fail(Code::kMalformed, "{}:{}:{}: number '{}' is too large", file_name, place.line, place.column,
              number.substr(0, 80));
}

}  // namespace

Result<nlohmann::ordered_json> parse_json(std::string_view text, std::string_view file_name, std::size_t bytes_max) {
  using Json = nlohmann::ordered_json;
  if (text.size() > bytes_max) {
    return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name, bytes_max);
  }
  std::vector<std::set<std::string>> keys;
  std::string doubled;
  bool too_deep = false;
  const Json::parser_callback_t watch = [&](int depth, Json::parse_event_t event, Json& value) {
    too_deep = too_deep || depth > kNestingMax;
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second) {
      doubled = value.get<std::string>();
    }
    return !too_deep;
  };
  try {
    Json root = Json::parse(text.begin(), text.end(), watch);
    if (too_deep) return fail(Code::kMalformed, "{}: JSON nests deeper than {}", file_name, kNestingMax);
    if (!doubled.empty()) {
      return fail(Code::kMalformed, "{}: key '{}' stands twice in one object", file_name, doubled.substr(0, 80));
    }
    return root;
  } catch (const Json::parse_error& error) {
    const TextPlace place = place_of(text, error.byte == 0 ? 0 : error.byte - 1);
    std::string_view what = error.what();
    if (const std::size_t colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    std::string line(what.substr(0, 160));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return fail(Code::kMalformed, "{}:{}:{}: JSON is malformed at byte {}: {}", file_name, place.line, place.column,
                error.byte == 0 ? 0 : error.byte - 1, line);
  } catch (const Json::out_of_range& error) {
    return too_large(text, file_name, error.what());
  } catch (const Json::exception& error) {
    return fail(Code::kMalformed, "{}: {}", file_name, std::string_view(error.what()).substr(0, 160));
  }
}

bool has_json_key(std::string_view text, std::string_view key) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return false;
  return find_key(text.substr(0, std::size_t{1} << 20), key) != std::string_view::npos;
}

std::string json_line(std::string_view text, std::string_view key) {
  const std::size_t at = find_key(text, key);
  return at == std::string_view::npos ? "" : fmt::format("line {}", place_of(text, at).line);
}

}  // namespace hocket

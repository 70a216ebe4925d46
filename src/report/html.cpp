#include "report/html.h"

#include <fmt/format.h>

#include <cstdint>

namespace hocket {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
}

/// Bytes of the well-formed UTF-8 character at the start of `text`, or 0.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0 && continues(text, 1)) return 2;
  if (first >= 0xE0 && first < 0xF0 && continues(text, 1) && continues(text, 2)) {
    const std::uint32_t code = (first & 15U) << 12U | (byte(1) & 63U) << 6U | (byte(2) & 63U);
    return code < 0x800 || (code >= 0xD800 && code < 0xE000) || code >= 0xFFFE ? 0 : 3;
  }
  if (first >= 0xF0 && first < 0xF5 && continues(text, 1) && continues(text, 2) && continues(text, 3)) {
    const std::uint32_t code = (first & 7U) << 18U | (byte(1) & 63U) << 12U;
    return code < 0x10000 || code >= 0x110000 ? 0 : 4;
  }
  return 0;
}

bool is_forbidden(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\t' && c != '\n' && c != '\r') || code == 0x7F;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0 || is_forbidden(text[0])) {
      out += kReplacement;
    } else if (text[0] == '&') {
      out += "&amp;";
    } else if (text[0] == '<') {
      out += "&lt;";
    } else if (text[0] == '>') {
      out += "&gt;";
    } else if (text[0] == '"') {
      out += "&quot;";
    } else if (text[0] == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::string readable_bytes(Bytes size) {
  std::string text = format_bytes(size);
  text.insert(text.find_first_not_of("0123456789"), " ");
  return text;
}

std::string readable_time(Seconds time) {
  std::string text = format_seconds(time);
  if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "\xC2\xB5");
  return text;
}

std::string network_name(const Topology& topology) {
  const std::string_view name = topology.name();
  const std::size_t folder = name.substr(0, name.find(' ')).rfind('/');
  return escape_html(folder == name.npos ? name : name.substr(folder + 1));
}

std::string link_name(const Topology& topology, LinkId link) {
  const Link& l = topology.link(link);
  return fmt::format("{} &#8594; {}", escape_html(topology.vertices()[l.from].name),
                     escape_html(topology.vertices()[l.to].name));
}

std::string embed_json(const nlohmann::ordered_json& document) {
  std::string out;
  for (const char c : document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace hocket

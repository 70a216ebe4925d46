#include "exchange/text_place.h"

#include <algorithm>

namespace hocket {

TextPlace place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  return {1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1};
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view root_element(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (;;) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || text[start] != '<') return {};
    text.remove_prefix(start);
    std::string_view end;
    if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<?")) {
      end = "?>";
    } else if (text.starts_with("<!")) {
      end = ">";
    } else {
      const std::string_view name = text.substr(1);
      return name.substr(0, name.find_first_of(" \t\r\n/>"));
    }
    const std::size_t stop = text.find(end);
    if (stop == std::string_view::npos) return {};
    text.remove_prefix(stop + end.size());
  }
}

}  // namespace hocket

// Saved inputs of the fuzz targets as inputs of unit tests, and damaged copies of them.
// Ownership: plain text.
// Threading: pure functions apart from reading files. Refuses: nothing; a missing file is an empty text.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hocket {

/// tests/corpus/`path`.
inline std::string corpus_text(const std::string& path) {
  std::ifstream in(std::string(HOCKET_SOURCE_DIR) + "/tests/corpus/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What editors, terminals and mail do to a file, and worse: cut at many places, lines ended by CRLF, bytes replaced.
inline std::vector<std::string> damaged_copies(const std::string& text) {
  std::vector<std::string> copies{"", "\n", std::string(1, '\0')};
  const std::size_t stride = text.size() / 60 + 1;
  for (std::size_t cut = 0; cut < text.size(); cut += stride) {
    copies.push_back(text.substr(0, cut));
    std::string changed = text;
    changed[cut] = static_cast<char>(changed[cut] ^ 0x15);
    copies.push_back(changed);
    changed[cut] = '\0';
    copies.push_back(changed);
    changed[cut] = '\xff';
    copies.push_back(changed);
    copies.push_back(text.substr(0, cut) + text);
  }
  return copies;
}

inline std::string with_crlf(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

}  // namespace hocket

// SimAI's bus-bandwidth file. Named .yaml, but it is not YAML: a bare word first, then sections (TP: DP: EP: PP:) with
// lines `allreduce,: 300`. Read line by line.
#include <algorithm>

#include "exchange/csv.h"
#include "exchange/file_kind.h"

namespace hocket {
namespace {

bool is_section(std::string_view line) { return line == "TP:" || line == "DP:" || line == "EP:" || line == "PP:"; }

bool recognise(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  return head.find(",:") != std::string_view::npos &&
         (head.find("TP:") != std::string_view::npos || head.find("DP:") != std::string_view::npos);
}

bool is_decimal(std::string_view text) {
  return !text.empty() && text.size() < 32 && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  Examination result;
  std::string section;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view line = trim_blanks(bytes.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty()) continue;
    if (is_section(line)) {
      section = line.substr(0, 2);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (number == 1 && colon == std::string_view::npos) {
      result.losses.ignored("line 1", fmt::format("word '{}'", line.substr(0, 40)), "a title");
      continue;
    }
    if (colon == std::string_view::npos || section.empty()) {
      return fail(Code::kMalformed, "{}:{}: '{}' is neither a section nor `collective,: rate`", file_name, number,
                  line.substr(0, 40));
    }
    std::string_view name = trim_blanks(line.substr(0, colon));
    const std::string_view value = trim_blanks(line.substr(colon + 1));
    if (name.ends_with(",")) name.remove_suffix(1);
    if (value != "null" && !is_decimal(value)) {
      return fail(Code::kMalformed, "{}:{}: '{}' is not a rate", file_name, number, value.substr(0, 40));
    }
    result.contents.push_back(fmt::format("{} {}: {}", section, name.substr(0, 40),
                                          value == "null" ? "not given" : fmt::format("{} GB/s", value)));
  }
  result.losses.assumed("", "bus bandwidths in decimal GB/s", "the file has no units");
  result.losses.assumed("", "lines instead of YAML", "the file is called YAML, but is none");
  result.round_trip_text = "read only";
  return result;
}

}  // namespace

extern const FileKind file_kind_simai_busbw{
    .name = "simai-busbw",
    .description = "a SimAI bus bandwidth file",
    .not_a_topology = "; it has measured rates per group, not what joins the ranks",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket

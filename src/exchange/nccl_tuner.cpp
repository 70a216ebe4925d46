#include "exchange/nccl_tuner.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/spelling.h"
#include "exchange/csv.h"

namespace hocket {
namespace {

constexpr std::size_t kLineMax = 255, kLinesMax = 100'000, kFieldsLeast = 8, kFieldsMost = 10;
constexpr std::array<std::string_view, 7> kAlgorithms{"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                                      "nvls_tree", "pat"};
constexpr std::array<std::string_view, 3> kProtocols{"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 5> kCollectives{"broadcast", "reduce", "allgather", "reducescatter",
                                                       "allreduce"};

std::string word_of(CollectiveKind kind) {
  std::string word(name_of(kind));
  std::erase(word, '_');
  return word;
}

/// One line while it is read; errors name its place.
class LineReader {
 public:
  LineReader(const std::vector<CsvField>& fields, std::string_view file, std::size_t line)
      : fields_(fields), file_(file), line_(line) {}

  template <class Words>
  [[nodiscard]] Result<std::string> word(std::size_t i, const char* what, const Words& known) const {
    const std::string& text = fields_[i].text;
    if (std::find(known.begin(), known.end(), text) != known.end()) return text;
    return fail(Code::kMalformed, "{}:{}:{}: unknown {} '{}'{}", file_, line_, fields_[i].column, what,
                text.substr(0, 40), spelling_hint(text, known));
  }

  template <class Number>
  [[nodiscard]] Result<Number> number(std::size_t i, const char* what, Number least) const {
    const std::string& text = fields_[i].text;
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= least) return value;
    return fail(Code::kMalformed, "{}:{}:{}: {} '{}' is not a whole number from {}", file_, line_, fields_[i].column,
                what, text.substr(0, 40), least);
  }

 private:
  const std::vector<CsvField>& fields_;
  std::string_view file_;
  std::size_t line_;
};

Result<TunerLine> line_of(const std::vector<CsvField>& fields, std::string_view file, std::size_t number) {
  if (fields.size() < kFieldsLeast || fields.size() > kFieldsMost)
    return fail(Code::kMalformed, "{}:{}: {} fields, expected {} to {}", file, number, fields.size(), kFieldsLeast,
                kFieldsMost);
  const LineReader reader(fields, file, number);
  TunerLine line;
  line.line = number;
  HOCKET_TRY_ASSIGN(const std::string kind, reader.word(0, "collective", kCollectives));
  HOCKET_TRY_ASSIGN(line.kind, parse_collective(kind));
  HOCKET_TRY_ASSIGN(line.from, reader.number(1, "min_bytes", std::uint64_t{0}));
  HOCKET_TRY_ASSIGN(line.to, reader.number(2, "max_bytes", std::uint64_t{0}));
  HOCKET_TRY_ASSIGN(line.algorithm, reader.word(3, "algorithm", kAlgorithms));
  HOCKET_TRY_ASSIGN(line.protocol, reader.word(4, "protocol", kProtocols));
  HOCKET_TRY_ASSIGN(line.channels, reader.number(5, "channels", std::int64_t{-1}));
  HOCKET_TRY_ASSIGN(line.nodes, reader.number(6, "nNodes", std::int64_t{-1}));
  HOCKET_TRY_ASSIGN(line.ranks, reader.number(7, "nRanks", std::int64_t{-1}));
  if (fields.size() > 8) {
    HOCKET_TRY_ASSIGN(line.pipe_ops, reader.number(8, "numPipeOps", std::int64_t{-1}));
  }
  if (fields.size() > 9) {
    HOCKET_TRY_ASSIGN(line.registered, reader.number(9, "regBuff", std::int64_t{-1}));
  }
  if (line.from > line.to)
    return fail(Code::kMalformed, "{}:{}: min_bytes {} above max_bytes {}", file, number, line.from, line.to);
  return line;
}

/// Calls `each(line, number)` for every line that is neither empty nor a comment.
template <class Each>
Result<void> for_lines(std::string_view text, Each&& each) {
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim_blanks(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (!line.empty() && line.front() != '#') HOCKET_TRY(each(line, number));
  }
  return {};
}

}  // namespace

std::string_view nccl_algorithm(std::string_view ours) {
  if (ours == "ring") return "ring";
  if (ours == "double_binary_tree") return "tree";
  return "";
}

bool is_nccl_tuner(std::string_view text) {
  bool first = true, found = false;
  const auto looked = for_lines(text.substr(0, 4096), [&](std::string_view line, std::size_t) -> Result<void> {
    if (!first) return {};
    first = false;
    const auto fields = split_csv(line);
    found =
        fields && fields->size() >= kFieldsLeast && fields->size() <= kFieldsMost && whole_number((*fields)[1].text);
    return {};
  });
  return looked && found;
}

Result<std::vector<TunerLine>> read_nccl_tuner(std::string_view text, std::string_view file_name) {
  std::vector<TunerLine> lines;
  HOCKET_TRY(for_lines(text, [&](std::string_view line, std::size_t number) -> Result<void> {
    if (line.size() > kLineMax)
      return fail(Code::kMalformed, "{}:{}: {} bytes, the plug-in reads {}", file_name, number, line.size(), kLineMax);
    if (lines.size() == kLinesMax) return fail(Code::kResourceExhausted, "{}: over {} lines", file_name, kLinesMax);
    const auto fields = split_csv(line);
    if (!fields) return fail(Code::kMalformed, "{}:{}:{}: a quote is not closed", file_name, number, fields.error());
    HOCKET_TRY_ASSIGN(TunerLine one, line_of(*fields, file_name, number));
    lines.push_back(std::move(one));
    return {};
  }));
  return lines;
}

Result<std::string> write_nccl_tuner(std::span<const TunerLine> lines, std::string_view note) {
  std::string out = fmt::format("# {}\n", note);
  out += "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n";
  for (const TunerLine& line : lines) {
    if (line.kind == CollectiveKind::kAllToAll)
      return fail(Code::kUnsupported, "NCCL's tuner is not asked about {}", name_of(line.kind));
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", word_of(line.kind), line.from, line.to, line.algorithm,
                       line.protocol, line.channels, line.nodes, line.ranks, line.pipe_ops, line.registered);
  }
  return out;
}

}  // namespace hocket

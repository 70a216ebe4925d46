#include "exchange/nccl_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "exchange/csv.h"
#include "exchange/file_text.h"
#include "exchange/json_text.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  Words words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The collective in "all_reduce_perf", "./build/alltoall_perf_mpi" and "bench all_reduce"; nothing where it says none.
std::optional<CollectiveKind> named_kind(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kNames{{
      {"all_reduce", CollectiveKind::kAllReduce},
      {"all_gather", CollectiveKind::kAllGather},
      {"reduce_scatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"broadcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},
  }};
  for (const auto& [name, kind] : kNames) {
    const bool is_program = text.find(fmt::format("{}_perf", name)) != std::string_view::npos;
    if (is_program || text.find(fmt::format("bench {}", name)) != std::string_view::npos) return kind;
  }
  return std::nullopt;
}

/// Bytes of an element by nccl-tests' name of its type; 0: a name we do not know.
std::int64_t bytes_of_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 12> kTypes{{{"int8", 1},
                                                                              {"uint8", 1},
                                                                              {"f8e4m3", 1},
                                                                              {"f8e5m2", 1},
                                                                              {"half", 2},
                                                                              {"bfloat16", 2},
                                                                              {"int32", 4},
                                                                              {"uint32", 4},
                                                                              {"float", 4},
                                                                              {"int64", 8},
                                                                              {"uint64", 8},
                                                                              {"double", 8}}};
  for (const auto& [known, bytes] : kTypes) {
    if (known == name) return bytes;
  }
  return 0;
}

/// What a log says of itself, gathered row by row, whatever its form.
class LogReader {
 public:
  explicit LogReader(std::string_view file_name) : file_name_(file_name) {}

  struct Half {
    std::optional<double> time_us, algbw_GBps, busbw_GBps;
    bool wrong = false;
  };
  struct Row {
    std::string place;  // "12" or "results 3"
    std::string_view reduction, root, type;
    double size = 0;
    std::optional<double> count;
    std::array<Half, 2> halves;
  };

  /// A log of several runs names each rank once a run.
  Result<void> add_rank(std::uint64_t rank, std::string_view place) {
    if (!ranks_of_run_.insert(rank).second)
      return fail(Code::kMalformed, "{}:{}: rank {} is named twice in one run", file_name_, place, rank);
    ranks_.insert(rank);
    return {};
  }
  void begin_run() { ranks_of_run_.clear(); }
  void name_kind(std::string_view text) {
    if (!kind_) kind_ = named_kind(text);
  }
  void leave_out(std::string where, std::string what, std::string why) {
    log_.losses.ignored(std::move(where), std::move(what), std::move(why));
  }

  Result<void> add_row(const Row& row) {
    if (row.size < 0 || row.size > 9e18 || row.size != std::floor(row.size))
      return fail(Code::kMalformed, "{}:{}: {} is no size", file_name_, row.place, row.size);
    begin_run();  // ranks named after rows are those of another
    const std::int64_t element = bytes_of_type(row.type);
    if (row.count && element > 0)
      counts_.push_back({row.place, row.size, *row.count, static_cast<double>(element), std::string(row.type)});
    if (!seen_row_) {
      seen_row_ = true;
      reduces_ = row.reduction != "none" && !row.reduction.empty();
      rooted_ = !row.root.empty() && row.root != "-1";
    }
    const std::size_t before = log_.times.size();
    for (const Half& half : row.halves) {
      if (!half.time_us) continue;
      HOCKET_TRY(add_half(row, half));
    }
    if (log_.times.size() > before) ++log_.rows;
    return {};
  }

  Result<NcclLog> finish() {
    if (!seen_row_) return fail(Code::kMalformed, "{}: no rows of nccl-tests", file_name_);
    if (log_.times.empty()) return fail(Code::kMalformed, "{}: no row that could be used", file_name_);
    if (ranks_.size() < 2 || ranks_.size() > kRanksMax)
      return fail(Code::kMalformed, "{}: names {} ranks; 2 or more are wanted", file_name_, ranks_.size());
    log_.ranks = static_cast<std::uint32_t>(ranks_.size());
    choose_kind();
    HOCKET_TRY(check_counts());
    HOCKET_TRY(check_bandwidths());
    return std::move(log_);
  }

 private:
  struct Stated {
    std::string place;
    double algbw_Bps, measured_Bps;
    std::optional<double> busbw_Bps;
  };
  struct Counted {
    std::string place;
    double size, count, element;
    std::string type;
  };

  Result<void> add_half(const Row& row, const Half& half) {
    if (half.wrong) {
      leave_out(row.place, "a time", "its results were wrong");
      return {};
    }
    if (row.size == 0) {
      leave_out(row.place, "a time", "of no bytes");
      return {};
    }
    constexpr double kLeast_us = 1e-6, kMost_us = 1e15;
    if (*half.time_us < kLeast_us || *half.time_us > kMost_us)
      return fail(Code::kMalformed, "{}:{}: a time of {} us", file_name_, row.place, *half.time_us);
    const double seconds = *half.time_us * 1e-6;
    log_.times.push_back({{static_cast<std::int64_t>(row.size)}, {seconds}});
    if (half.algbw_GBps) {
      const auto busbw = half.busbw_GBps ? std::optional(*half.busbw_GBps * 1e9) : std::nullopt;
      stated_.push_back({row.place, *half.algbw_GBps * 1e9, row.size / seconds, busbw});
    }
    return {};
  }

  void choose_kind() {
    if (kind_) {
      log_.kind = *kind_;
      return;
    }
    log_.kind = rooted_    ? (reduces_ ? CollectiveKind::kReduce : CollectiveKind::kBroadcast)
                : reduces_ ? CollectiveKind::kAllReduce
                           : CollectiveKind::kAllGather;
    log_.losses.assumed("", fmt::format("{}", name_of(log_.kind)), "the log does not name its collective");
  }

  /// Bandwidths are bytes over time, two digits behind the point; of blocked kinds, in old versions, without the own
  /// block.
  Result<void> check_bandwidths() const {
    for (const Stated& s : stated_) {
      const double own = s.measured_Bps * (log_.ranks - 1) / log_.ranks;
      const auto near = [&s](double expected) { return std::abs(s.algbw_Bps - expected) <= 1.1e7 + 0.01 * expected; };
      if (near(s.measured_Bps) || near(own)) {
        HOCKET_TRY(check_busbw(s));
        continue;
      }
      return fail(Code::kMalformed, "{}:{}: algbw {:.4g} GB/s, but size over time is {:.4g} GB/s", file_name_, s.place,
                  s.algbw_Bps / 1e9, s.measured_Bps / 1e9);
    }
    return {};
  }

  /// Of a kind that the log names, busbw is a fixed part of size over time.
  Result<void> check_busbw(const Stated& s) const {
    if (!kind_ || !s.busbw_Bps) return {};
    const double expected = s.measured_Bps * bus_factor({.kind = *kind_, .ranks = log_.ranks});
    if (std::abs(*s.busbw_Bps - expected) <= 1.1e7 + 0.01 * expected) return {};
    return fail(Code::kMalformed, "{}:{}: busbw {:.4g} GB/s, but size over time of {} on {} ranks gives {:.4g} GB/s",
                file_name_, s.place, *s.busbw_Bps / 1e9, name_of(*kind_), log_.ranks, expected / 1e9);
  }

  /// The count is of the whole size, or of one rank's part of it.
  Result<void> check_counts() const {
    for (const Counted& c : counts_) {
      const double bytes = c.count * c.element;
      if (bytes == c.size || bytes * log_.ranks == c.size) continue;
      return fail(Code::kMismatch, "{}:{}: a size of {} bytes, but {} elements of {} are {} bytes, {} on {} ranks",
                  file_name_, c.place, c.size, c.count, c.type, bytes, bytes * log_.ranks, log_.ranks);
    }
    return {};
  }

  static constexpr std::size_t kRanksMax = std::size_t{1} << 24;

  std::string_view file_name_;
  NcclLog log_;
  std::set<std::uint64_t> ranks_, ranks_of_run_;
  std::optional<CollectiveKind> kind_;
  std::vector<Stated> stated_;
  std::vector<Counted> counts_;
  bool seen_row_ = false, reduces_ = false, rooted_ = false;
};

/// Where the columns are: those of the current nccl-tests until a heading says otherwise.
struct Columns {
  std::size_t count = 13;
  std::optional<std::size_t> number = 1, type = 2, reduction = 3, root = 4;
  std::array<std::size_t, 2> time{5, 9};
};

std::optional<Columns> read_heading(const Words& words) {
  // "#" may stand by itself or at the first word.
  const std::size_t first = !words.empty() && words[0] == "#" ? 1 : 0;
  if (words.size() < first + 6) return std::nullopt;
  const auto is = [&](std::size_t i, std::string_view name) {
    std::string_view word = words[i];
    if (word.starts_with("#") && word != "#wrong") word.remove_prefix(1);
    return word == name;
  };
  if (!is(first, "size") && !is(first, "bytes")) return std::nullopt;
  Columns columns{.count = 0, .number = {}, .type = {}, .reduction = {}, .root = {}, .time = {0, 0}};
  std::size_t times = 0;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::size_t place = i - first;
    if (is(i, "count")) columns.number = place;
    if (is(i, "type")) columns.type = place;
    if (is(i, "redop")) columns.reduction = place;
    if (is(i, "root")) columns.root = place;
    if (is(i, "time") && times < 2) columns.time[times++] = place;
  }
  if (times != 2) return std::nullopt;
  columns.count = columns.time[1] + 4;
  return columns;
}

class TableReader {
 public:
  TableReader(std::string_view text, std::string_view file_name)
      : text_(text), file_name_(file_name), reader_(file_name) {}

  Result<NcclLog> read() {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      HOCKET_TRY(read_line(text_.substr(begin, end - begin), ++number));
      begin = end + 1;
    }
    return reader_.finish();
  }

 private:
  Result<void> read_line(std::string_view line, std::size_t number) {
    const Words words = words_of(line);
    if (words.empty()) return {};
    if (words[0].starts_with('#')) {
      return read_comment(line, words, number);
    }
    if (words[0].find_first_not_of("0123456789") != std::string_view::npos) {
      reader_.name_kind(line.find("_perf") != std::string_view::npos ? line : "");
      reader_.leave_out(fmt::format("line {}", number), "a line", "no row");
      return {};
    }
    return read_row(words, number);
  }

  Result<void> read_comment(std::string_view line, const Words& words, std::size_t number) {
    if (const auto columns = read_heading(words)) columns_ = *columns;
    if (std::find(words.begin(), words.end(), "Using") != words.end()) reader_.begin_run();
    HOCKET_TRY(check_units(words, number));
    if (words.size() < 3 || words[1] != "Rank") {
      reader_.name_kind(line);
      return {};
    }
    const auto rank = whole_number(words[2]);
    return rank ? reader_.add_rank(*rank, fmt::format("{}", number)) : Result<void>();
  }

  /// The line of units below the heading: nccl-tests always has these.
  Result<void> check_units(const Words& words, std::size_t number) const {
    constexpr std::array<std::string_view, 4> kUnits{"(B)", "(elements)", "(us)", "(GB/s)"};
    const bool are_units = words.size() > 4 && std::all_of(words.begin() + 1, words.end(), [](std::string_view word) {
                             return word.starts_with('(') && word.ends_with(')');
                           });
    for (std::size_t i = 1; are_units && i < words.size(); ++i) {
      if (std::find(kUnits.begin(), kUnits.end(), words[i]) != kUnits.end()) continue;
      return fail(Code::kMalformed, "{}:{}: a column in {}: those of nccl-tests are in {}", file_name_, number,
                  words[i].substr(0, 40), fmt::join(kUnits, ", "));
    }
    return {};
  }

  Result<void> read_row(const Words& words, std::size_t number) {
    if (words.size() < columns_.count) {
      return fail(Code::kMalformed, "{}:{}: a row of {} columns, {} are wanted", file_name_, number, words.size(),
                  columns_.count);
    }
    LogReader::Row row{
        .place = fmt::format("{}", number), .reduction = {}, .root = {}, .type = {}, .count = {}, .halves = {}};
    if (columns_.type) row.type = words[*columns_.type];
    if (columns_.number) row.count = number_of(words[*columns_.number]);
    if (columns_.reduction) row.reduction = words[*columns_.reduction];
    if (columns_.root) row.root = words[*columns_.root];
    HOCKET_TRY_ASSIGN(row.size, number_at(words[0], number));
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t time = columns_.time[half];
      if (words[time] == "N/A") continue;
      HOCKET_TRY_ASSIGN(row.halves[half].time_us, number_at(words[time], number));
      HOCKET_TRY_ASSIGN(row.halves[half].algbw_GBps, number_at(words[time + 1], number));
      HOCKET_TRY_ASSIGN(row.halves[half].busbw_GBps, number_at(words[time + 2], number));
      if (words[time + 3] == "N/A") continue;
      HOCKET_TRY_ASSIGN(const double wrong, number_at(words[time + 3], number));
      row.halves[half].wrong = wrong > 0 && columns_.reduction;  // old versions print the greatest difference instead
    }
    return reader_.add_row(row);
  }

  Result<double> number_at(std::string_view word, std::size_t line) const {
    if (const auto number = number_of(word)) return *number;
    return fail(Code::kMalformed, "{}:{}: '{}' is no number", file_name_, line, word.substr(0, 40));
  }

  std::string_view text_, file_name_;
  LogReader reader_;
  Columns columns_;
};

class DocumentReader {
 public:
  DocumentReader(std::string_view text, std::string_view file_name)
      : text_(text), file_name_(file_name), reader_(file_name) {}

  Result<NcclLog> read() {
    HOCKET_TRY_ASSIGN(const nlohmann::ordered_json root, parse_json(text_, file_name_, kNcclLogBytesMax));
    const auto config = root.find("config");
    if (config != root.end() && config->is_object() && config->contains("devices")) {
      std::uint64_t rank = 0;
      for (const auto& device : (*config)["devices"]) {
        if (device.is_object()) HOCKET_TRY(reader_.add_rank(rank++, "config"));
      }
    }
    if (root.contains("args")) reader_.name_kind(named_in(root["args"]));
    const auto results = root.find("results");
    if (results == root.end() || !results->is_array())
      return fail(Code::kMalformed, "{}: key 'results' is no list", file_name_);
    std::size_t number = 0;
    for (const auto& entry : *results) HOCKET_TRY(read_entry(entry, ++number));
    return reader_.finish();
  }

 private:
  /// Arguments as one text, words of a list with blanks between them.
  static std::string named_in(const nlohmann::ordered_json& arguments) {
    if (arguments.is_string()) return arguments.get<std::string>();
    std::string all;
    if (!arguments.is_array()) return all;
    for (const auto& word : arguments) all += word.is_string() ? word.get<std::string>() + " " : "";
    return all;
  }

  Result<void> read_entry(const nlohmann::ordered_json& entry, std::size_t number) {
    const std::string place = fmt::format("results {}", number);
    if (!entry.is_object()) return fail(Code::kMalformed, "{}:{}: no object", file_name_, place);
    std::string reduction, root, type;
    if (entry.contains("type") && entry["type"].is_string()) type = entry["type"].get<std::string>();
    if (entry.contains("redop") && entry["redop"].is_string()) reduction = entry["redop"].get<std::string>();
    if (entry.contains("root"))
      root = entry["root"].is_string() ? entry["root"].get<std::string>() : entry["root"].dump();
    LogReader::Row row{.place = place, .reduction = reduction, .root = root, .type = type, .count = {}, .halves = {}};
    if (entry.contains("count") && entry["count"].is_number()) row.count = entry["count"].get<double>();
    HOCKET_TRY_ASSIGN(row.size, number_at(entry, "size", place));
    for (std::size_t half = 0; half < 2; ++half) {
      const std::string key = half == 0 ? "out_of_place" : "in_place";
      const auto found = entry.find(key);
      if (found == entry.end() || !found->is_object()) continue;
      HOCKET_TRY_ASSIGN(row.halves[half].time_us, number_at(*found, "time", place));
      if (found->contains("alg_bw")) {
        HOCKET_TRY_ASSIGN(row.halves[half].algbw_GBps, number_at(*found, "alg_bw", place));
      }
      if (found->contains("bus_bw")) {
        HOCKET_TRY_ASSIGN(row.halves[half].busbw_GBps, number_at(*found, "bus_bw", place));
      }
      const auto wrong = found->find("nwrong");
      row.halves[half].wrong = wrong != found->end() && wrong->is_number() && wrong->get<double>() > 0;
    }
    return reader_.add_row(row);
  }

  /// Numbers may stand as text.
  Result<double> number_at(const nlohmann::ordered_json& map, const std::string& key, std::string_view place) const {
    const auto found = map.find(key);
    if (found == map.end()) return fail(Code::kMalformed, "{}:{}: key '{}' is missing", file_name_, place, key);
    if (found->is_number()) return found->get<double>();
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    if (const auto number = number_of(text)) return *number;
    return fail(Code::kMalformed, "{}:{}: {} '{}' is no number", file_name_, place, key, text.substr(0, 40));
  }

  std::string_view text_, file_name_;
  LogReader reader_;
};

bool is_document(std::string_view text) { return has_json_key(text, "results") && has_json_key(text, "config"); }

}  // namespace

bool looks_like_nccl_log(std::string_view text) {
  if (is_document(text)) return true;
  const std::string_view head = text.substr(0, std::size_t{1} << 16);
  return head.find("algbw") != std::string_view::npos && head.find("busbw") != std::string_view::npos &&
         head.find("# ") != std::string_view::npos;
}

Result<NcclLog> read_nccl_log(std::string_view text, std::string_view file_name) {
  if (text.size() > kNcclLogBytesMax)
    return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name, kNcclLogBytesMax);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return with_printable_error(DocumentReader(text, file_name).read());
  return with_printable_error(TableReader(text, file_name).read());
}

Result<NcclLog> load_nccl_log(const std::string& path) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kNcclLogBytesMax));
  HOCKET_TRY_ASSIGN(NcclLog log, read_nccl_log(text.bytes, path));
  log.losses.append(text.losses);
  return log;
}

}  // namespace hocket

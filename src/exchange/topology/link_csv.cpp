// Link-list CSV: one cable per row under a header row.
//   from,to,bandwidth,latency,count,duplex        count and duplex may be absent; columns in any order
//   0,1,16GB/s,150ns,2,full                        two parallel cables, each way; `simplex` means from -> to only
//   vertex,leaf0,switch                            declares a vertex and its kind (npu switch host nic)
//   rank,3                                         npus that take part, in order; all when there is no such row
//   extents,4,4                                    logical extents, dimension 0 first
// Lines that start with # are comments; fields may be quoted ("a,b"). Names not declared take their kind from their
// first word: switch, sw, leaf, spine, core, router, nvswitch; nic; host, cpu; anything else is an npu. When all
// undeclared npus are PREFIX plus a number they are ranked by that number, otherwise in order of appearance.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "exchange/csv.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

constexpr std::size_t kVerticesMax = std::size_t{1} << 20;
constexpr std::size_t kAbsent = kCsvFieldsMax;
constexpr std::size_t kFromColumn = 0, kToColumn = 1, kBandwidthColumn = 2, kLatencyColumn = 3, kCountColumn = 4,
                      kDuplexColumn = 5;
constexpr std::array<std::string_view, 6> kColumns{"from", "to", "bandwidth", "latency", "count", "duplex"};

VertexKind kind_from_name(std::string_view name) {
  const std::string word = lower_case(name.substr(0, 16));
  const auto starts = [&](std::string_view prefix) {
    if (!word.starts_with(prefix)) return false;
    return word.size() == prefix.size() || !(word[prefix.size()] >= 'a' && word[prefix.size()] <= 'z');
  };
  for (const std::string_view prefix : {"switch", "sw", "leaf", "spine", "core", "router", "nvswitch"}) {
    if (starts(prefix)) return VertexKind::kSwitch;
  }
  if (starts("nic")) return VertexKind::kNic;
  if (starts("host") || starts("cpu")) return VertexKind::kHost;
  return VertexKind::kNpu;
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view file_name) : file_name_(file_name) {}

  Result<ReadTopology> read(std::string_view text) {
    if (text.size() > kTopologyTextMax)
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kTopologyTextMax);
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      HOCKET_TRY(read_line(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (!header_) return fail(Code::kMalformed, "{}: no header row 'from,to,bandwidth,latency'", file_name_);
    return build();
  }

 private:
  struct Row {
    std::size_t from, to;  // indices into names_
    BytesPerSecond bandwidth;
    Seconds latency;
    std::uint64_t count;
    bool simplex;
  };

  template <class... Args>
  tl::unexpected<Error> error_at(std::size_t column, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}:{}:{}: {}", file_name_, line_, column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> read_line(std::string_view line) {
    const std::string_view trimmed = trim_blanks(line);
    if (trimmed.empty() || trimmed.front() == '#') return {};
    const auto split = split_csv(line);
    if (!split)
      return error_at(split.error(), "a quote that is not closed, text behind one, or more than {} fields",
                      kCsvFieldsMax);
    const std::vector<CsvField>& fields = *split;
    const std::string first = fields[0].quoted ? std::string() : lower_case(fields[0].text);
    if (first == "vertex" && fields.size() <= 3) return read_vertex(fields);
    if (first == "rank" && fields.size() <= 2) return read_rank(fields);
    if (first == "extents") return read_extents(fields);
    return header_ ? read_link(fields) : read_header(fields);
  }

  Result<void> read_header(const std::vector<CsvField>& fields) {
    columns_.fill(kAbsent);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto known = std::find(kColumns.begin(), kColumns.end(), lower_case(fields[i].text));
      if (known == kColumns.end()) {
        return error_at(fields[i].column, "unknown column '{}', known: from to bandwidth latency count duplex",
                        fields[i].text);
      }
      std::size_t& column = columns_[static_cast<std::size_t>(known - kColumns.begin())];
      if (column != kAbsent) return error_at(fields[i].column, "column '{}' stands twice", fields[i].text);
      column = i;
    }
    for (const std::size_t needed : {kFromColumn, kToColumn, kBandwidthColumn, kLatencyColumn}) {
      if (columns_[needed] == kAbsent) return error_at(1, "header lacks column '{}'", kColumns[needed]);
    }
    header_ = true;
    header_fields_ = fields.size();
    return {};
  }

  Result<std::size_t> index_of(const CsvField& field) {
    if (field.text.empty()) return error_at(field.column, "empty vertex name");
    const auto [entry, added] = by_name_.try_emplace(field.text, names_.size());
    if (added) {
      if (names_.size() == kVerticesMax) return error_at(field.column, "more than {} vertices", kVerticesMax);
      names_.push_back(field.text);
      kinds_.push_back(std::nullopt);
    }
    return entry->second;
  }

  Result<void> read_vertex(const std::vector<CsvField>& fields) {
    if (fields.size() != 3) return error_at(1, "wanted vertex,NAME,KIND");
    if (by_name_.contains(fields[1].text) && kinds_[by_name_.find(fields[1].text)->second]) {
      return error_at(fields[1].column, "vertex '{}' is declared twice", fields[1].text);
    }
    HOCKET_TRY_ASSIGN(const std::size_t index, index_of(fields[1]));
    for (const VertexKind kind : {VertexKind::kNpu, VertexKind::kSwitch, VertexKind::kHost, VertexKind::kNic}) {
      if (name_of(kind) == lower_case(fields[2].text)) kinds_[index] = kind;
    }
    if (!kinds_[index])
      return error_at(fields[2].column, "unknown kind '{}', known: npu switch host nic", fields[2].text);
    declared_.push_back(index);
    return {};
  }

  Result<void> read_rank(const std::vector<CsvField>& fields) {
    if (fields.size() != 2) return error_at(1, "wanted rank,NAME");
    HOCKET_TRY_ASSIGN(const std::size_t index, index_of(fields[1]));
    ranks_.push_back(index);
    rank_lines_.push_back(line_);
    return {};
  }

  Result<void> read_extents(const std::vector<CsvField>& fields) {
    extents_.clear();
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const auto value = whole_number(fields[i].text);
      if (!value || *value == 0 || *value > kVerticesMax) {
        return error_at(fields[i].column, "'{}' is not an extent of 1 to {}", fields[i].text, kVerticesMax);
      }
      extents_.push_back(static_cast<std::uint32_t>(*value));
    }
    return {};
  }

  Result<void> read_link(const std::vector<CsvField>& fields) {
    if (fields.size() != header_fields_) {
      return error_at(1, "{} fields, the header has {}", fields.size(), header_fields_);
    }
    Row row{};
    HOCKET_TRY_ASSIGN(row.from, index_of(fields[columns_[kFromColumn]]));
    HOCKET_TRY_ASSIGN(row.to, index_of(fields[columns_[kToColumn]]));
    linked_.insert({row.from, row.to});
    const CsvField& bandwidth = fields[columns_[kBandwidthColumn]];
    const CsvField& latency = fields[columns_[kLatencyColumn]];
    const auto rate = parse_bandwidth(bandwidth.text);
    if (!rate) return error_at(bandwidth.column, "{}", rate.error().text);
    const auto delay = parse_seconds(latency.text);
    if (!delay) return error_at(latency.column, "{}", delay.error().text);
    row.bandwidth = *rate;
    row.latency = *delay;
    HOCKET_TRY(read_optional(fields, row));
    links_ += row.count * (row.simplex ? 1 : 2);
    if (links_ > kLinksMax) return error_at(1, "more than {} links", kLinksMax);
    rows_.push_back(row);
    return {};
  }

  Result<void> read_optional(const std::vector<CsvField>& fields, Row& row) const {
    row.count = 1;
    if (columns_[kCountColumn] != kAbsent && !fields[columns_[kCountColumn]].text.empty()) {
      const CsvField& field = fields[columns_[kCountColumn]];
      const auto count = whole_number(field.text);
      if (!count || *count == 0 || *count > kLinksMax) {
        return error_at(field.column, "'{}' is not a number of cables of 1 to {}", field.text, kLinksMax);
      }
      row.count = *count;
    }
    if (columns_[kDuplexColumn] != kAbsent) {
      const CsvField& field = fields[columns_[kDuplexColumn]];
      const std::string word = lower_case(field.text);
      row.simplex = word == "simplex";
      if (!row.simplex && !word.empty() && word != "full")
        return error_at(field.column, "'{}' is neither full nor simplex", field.text);
    }
    return {};
  }

  /// Declared vertices in their order, then the others: npus by number where they have one, in order of appearance
  /// otherwise.
  [[nodiscard]] std::vector<std::size_t> order() const {
    std::vector<std::size_t> result = declared_;
    std::vector<std::pair<std::uint64_t, std::size_t>> npus;
    std::string prefix;
    bool numbered = true;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (kinds_[i] || kind_from_name(names_[i]) != VertexKind::kNpu) continue;
      const std::size_t digits = names_[i].find_last_not_of("0123456789") + 1;
      const auto number = whole_number(std::string_view(names_[i]).substr(digits));
      if (npus.empty()) prefix = names_[i].substr(0, digits);
      numbered = numbered && number && names_[i].substr(0, digits) == prefix;
      npus.emplace_back(number.value_or(0), i);
    }
    if (numbered) std::sort(npus.begin(), npus.end());
    for (const auto& npu : npus) result.push_back(npu.second);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!kinds_[i] && kind_from_name(names_[i]) != VertexKind::kNpu) result.push_back(i);
    }
    return result;
  }

  /// A rank line whose name nothing else has: a slip, not a vertex.
  [[nodiscard]] tl::unexpected<Error> unlinked_rank(std::size_t index) const {
    const auto at = static_cast<std::size_t>(std::find(ranks_.begin(), ranks_.end(), index) - ranks_.begin());
    return fail(Code::kMalformed, "{}:{}: rank '{}' stands in no link and no vertex line", file_name_, rank_lines_[at],
                names_[index]);
  }

  Result<ReadTopology> build() {
    TopologyBuilder builder{std::string(file_name_), "file"};
    std::vector<VertexId> id_of(names_.size());
    for (const std::size_t i : order()) {
      id_of[i] = builder.add_vertex(names_[i], kinds_[i].value_or(kind_from_name(names_[i])));
    }
    for (const Row& row : rows_) {
      for (std::uint64_t n = 0; n < row.count; ++n) {
        builder.add_link(id_of[row.from], id_of[row.to], row.bandwidth, row.latency);
        if (!row.simplex) builder.add_link(id_of[row.to], id_of[row.from], row.bandwidth, row.latency);
        if (row.from == row.to) break;
      }
    }
    std::uint64_t product = 1;
    for (const std::uint32_t extent : extents_) product = std::min<std::uint64_t>(product * extent, kLinksMax);
    std::uint64_t npus = ranks_.size();
    for (const Vertex& v : builder.vertices()) npus += ranks_.empty() && v.kind == VertexKind::kNpu ? 1 : 0;
    if (!extents_.empty() && product != npus) {
      return fail(Code::kMalformed, "{}: the extents multiply to {}, but {} npus take part", file_name_, product, npus);
    }
    builder.set_extents(std::move(extents_));
    std::vector<VertexId> ranks;
    for (const std::size_t i : ranks_) {
      ranks.push_back(id_of[i]);
      if (!kinds_[i] && !linked_.contains(i)) return unlinked_rank(i);
      if (builder.vertices()[id_of[i]].kind != VertexKind::kNpu) {
        return fail(Code::kMalformed, "{}: rank '{}' is not an npu", file_name_, names_[i]);
      }
    }
    builder.set_ranks(std::move(ranks));
    return build_with_losses(std::move(builder), {});
  }

  std::string_view file_name_;
  std::size_t line_ = 0;
  bool header_ = false;
  std::size_t header_fields_ = 0;
  std::array<std::size_t, 6> columns_{};
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::string> names_;
  std::vector<std::optional<VertexKind>> kinds_;
  std::vector<std::size_t> declared_, ranks_, rank_lines_;
  std::set<std::size_t> linked_;
  std::vector<std::uint32_t> extents_;
  std::vector<Row> rows_;
  std::uint64_t links_ = 0;
};

bool recognise(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim_blanks(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const std::string start = lower_case(line.substr(0, 1024));
    const std::string_view word = trim_blanks(std::string_view(start).substr(0, start.find(',')));
    if (word == "vertex" || word == "rank" || word == "extents") return true;
    return start.find("from") != std::string::npos && start.find("bandwidth") != std::string::npos &&
           start.find(',') != std::string::npos;
  }
  return false;
}

Result<ReadTopology> read(std::string_view text, std::string_view file_name) { return CsvReader(file_name).read(text); }

bool are_equal(const Link& a, const Link& b) {
  return a.from == b.from && a.to == b.to && a.bandwidth == b.bandwidth && a.latency == b.latency;
}

/// Two links that a full-duplex row reads back as.
bool is_cable(std::span<const Link> links, std::size_t i) {
  if (i + 1 >= links.size()) return false;
  return are_equal(links[i + 1], {links[i].to, links[i].from, links[i].bandwidth, links[i].latency});
}

std::string write_links(const Topology& t, const std::vector<std::string>& names) {
  std::string out;
  const std::span<const Link> links = t.links();
  for (std::size_t i = 0; i < links.size();) {
    const bool full = is_cable(links, i);
    const std::size_t width = full ? 2 : 1;
    std::size_t count = 1;
    while (i + count * width < links.size() && is_cable(links, i + count * width) == full &&
           are_equal(links[i], links[i + count * width])) {
      ++count;
    }
    out += fmt::format("{},{},{},{},{},{}\n", names[links[i].from], names[links[i].to],
                       exact_bandwidth(links[i].bandwidth), exact_seconds(links[i].latency), count,
                       full ? "full" : "simplex");
    i += count * width;
  }
  return out;
}

Result<std::string> write(const Topology& t) {
  std::vector<std::string> names;
  std::map<std::string_view, VertexId> seen;
  for (VertexId v = 0; v < t.vertices().size(); ++v) {
    const std::string& plain = t.vertices()[v].name;
    const bool is_keyword = plain == "vertex" || plain == "rank" || plain == "extents";
    HOCKET_TRY_ASSIGN(std::string name, csv_field(plain, is_keyword));
    if (!seen.emplace(plain, v).second) return fail(Code::kUnsupported, "two vertices are called '{}'", name);
    names.push_back(std::move(name));
  }
  std::string out;
  for (const std::string& note : t.notes()) {
    out += "# ";
    for (const char c : note) out += c == '\n' || c == '\r' ? ' ' : c;
    out += '\n';
  }
  out += "from,to,bandwidth,latency,count,duplex\n";
  for (VertexId v = 0; v < names.size(); ++v)
    out += fmt::format("vertex,{},{}\n", names[v], name_of(t.vertices()[v].kind));
  std::vector<VertexId> usual;
  for (VertexId v = 0; v < names.size(); ++v) {
    if (t.vertices()[v].kind == VertexKind::kNpu) usual.push_back(v);
  }
  if (!std::equal(usual.begin(), usual.end(), t.ranks().begin(), t.ranks().end())) {
    for (const VertexId v : t.ranks()) out += fmt::format("rank,{}\n", names[v]);
  }
  if (!t.extents().empty()) out += fmt::format("extents,{}\n", fmt::join(t.extents(), ","));
  return out + write_links(t, names);
}

}  // namespace

extern const TopologyFormat topology_format_link_csv{
    .name = "link-csv",
    .extensions = ".csv",
    .description = "link list: from,to,bandwidth,latency[,count][,duplex]",
    .recognise = recognise,
    .read = read,
    .write = write,
    .describe = nullptr,
};

}  // namespace hocket

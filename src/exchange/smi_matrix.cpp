#include "exchange/smi_matrix.h"

#include <algorithm>
#include <map>
#include <optional>

#include "exchange/csv.h"

namespace hocket {
namespace {

constexpr std::size_t kDevicesMax = 256;
constexpr std::uint32_t kNvlinksMax = 64;

struct Token {
  std::string text;
  std::size_t column = 1;
};

/// Words between blanks; colour sequences (ESC [ ... letter) and other control characters count as nothing.
std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    } else if (c == ' ' || c == '\t') {
      inside = false;
    } else if (static_cast<unsigned char>(c) > ' ') {
      if (!inside) tokens.push_back({"", i + 1});
      inside = true;
      tokens.back().text += c;
    }
  }
  return tokens;
}

std::optional<std::uint64_t> numbered(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) ? whole_number(word.substr(prefix.size())) : std::nullopt;
}

std::optional<SmiCell> cell_of(std::string_view word) {
  if (const auto links = numbered(word, "NV"); links && *links > 0 && *links <= kNvlinksMax) {
    return SmiCell{SmiHop::kNvlink, static_cast<std::uint32_t>(*links)};
  }
  for (const SmiHop hop : {SmiHop::kSelf, SmiHop::kPix, SmiHop::kPxb, SmiHop::kPhb, SmiHop::kNode, SmiHop::kSys}) {
    if (word == name_of(hop)) return SmiCell{hop, 0};
  }
  if (word == "SOC") return SmiCell{SmiHop::kSys, 0};  // what old drivers print
  return std::nullopt;
}

bool is_row(const std::vector<Token>& tokens) {
  if (tokens.size() < 2 || !cell_of(tokens[1].text) || cell_of(tokens[0].text)) return false;
  return std::any_of(tokens.begin() + 1, tokens.end(), [](const Token& t) { return t.text == "X"; });
}

class MatrixReader {
 public:
  MatrixReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<SmiMatrix> read() {
    while (next_line()) HOCKET_TRY(take_line());
    HOCKET_TRY(close_row());
    if (matrix_.devices.empty()) {
      return fail(Code::kMalformed, "{}: no header row of device labels (GPU0 GPU1 ...)", file_name_);
    }
    for (const SmiDevice& device : matrix_.devices) {
      if (device.cells.empty()) {
        return fail(Code::kMalformed, "{}: row '{}' is missing, the header has {} devices", file_name_,
                    label_of(device), matrix_.devices.size());
      }
    }
    HOCKET_TRY(check_mirror());
    for (SmiDevice& device : matrix_.devices) rename(device);
    if (affinities_) {
      matrix_.losses.ignored("affinity columns", "CPU lists",
                             "only whether two devices share one counts, as a hint at their socket");
    }
    return std::move(matrix_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(std::size_t column, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}:{}:{}: {}", file_name_, line_, column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  bool next_line() {
    if (begin_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', begin_), text_.size());
    tokens_ = tokens_of(text_.substr(begin_, end - begin_));
    begin_ = end + 1;
    ++line_;
    return true;
  }

  Result<void> take_line() {
    if (tokens_.empty()) return {};
    if (take_legend()) return {};
    if (in_legend_) return {};
    if (is_row(tokens_)) return open_row();
    if (open_ && cell_of(tokens_.front().text) && matrix_.devices[*open_].cells.size() < matrix_.devices.size()) {
      matrix_.losses.repaired(fmt::format("line {}", line_), "wrapped row", "joined with the line before");
      return take_cells(0);
    }
    if (rows_ == 0) return take_header();
    return {};
  }

  /// "Legend:", "NIC Legend:" and the "NIC0: mlx5_0" lines below it.
  bool take_legend() {
    const bool title = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.text == "Legend:"; });
    in_legend_ = in_legend_ || title;
    if (in_legend_ && tokens_.size() == 2 && tokens_[0].text.starts_with("NIC") && tokens_[0].text.ends_with(":")) {
      nic_names_[tokens_[0].text.substr(0, tokens_[0].text.size() - 1)] = tokens_[1].text.substr(0, 80);
    }
    return title;
  }

  Result<void> take_header() {
    const bool starts =
        std::any_of(tokens_.begin(), tokens_.end(), [](const Token& t) { return numbered(t.text, "GPU").has_value(); });
    if (matrix_.devices.empty() && (!starts || !numbered(tokens_.front().text, "GPU"))) return {};
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& word = tokens_[i].text;
      if (word == "CPU" || word == "NUMA" || word == "GPU" || word == "Affinity" || word == "ID") continue;
      if (!by_label_.emplace(word, matrix_.devices.size()).second) {
        return error_at(tokens_[i].column, "label '{}' stands twice in the header", word);
      }
      if (matrix_.devices.size() == kDevicesMax)
        return error_at(tokens_[i].column, "more than {} devices", kDevicesMax);
      matrix_.devices.push_back({.name = word.substr(0, 80), .is_gpu = numbered(word, "GPU").has_value()});
    }
    return {};
  }

  Result<void> open_row() {
    HOCKET_TRY(close_row());
    const auto device = by_label_.find(tokens_.front().text);
    if (device == by_label_.end()) {
      return error_at(tokens_.front().column, "row '{}' is not a label of the header", tokens_.front().text);
    }
    if (!matrix_.devices[device->second].cells.empty()) {
      return error_at(tokens_.front().column, "row '{}' stands twice", tokens_.front().text);
    }
    open_ = device->second;
    ++rows_;
    return take_cells(1);
  }

  Result<void> take_cells(std::size_t first) {
    SmiDevice& device = matrix_.devices[*open_];
    std::size_t i = first;
    for (; i < tokens_.size() && device.cells.size() < matrix_.devices.size(); ++i) {
      const auto cell = cell_of(tokens_[i].text);
      if (!cell) {
        return error_at(tokens_[i].column, "row '{}', column '{}': '{}' is none of X NV# PIX PXB PHB NODE SYS",
                        label_of(device), label_of(matrix_.devices[device.cells.size()]), tokens_[i].text);
      }
      device.cells.push_back(*cell);
    }
    // CPU affinity, NUMA affinity, GPU NUMA id; the NUMA node says more than the list of CPUs.
    const std::size_t left = tokens_.size() - i;
    affinities_ = affinities_ || left > 0;
    if (left > 0) device.affinity = "cpus " + tokens_[i].text;
    if (left > 1 && tokens_[i + 1].text != "N/A") device.affinity = "numa " + tokens_[i + 1].text;
    return {};
  }

  Result<void> close_row() {
    if (!open_) return {};
    const SmiDevice& device = matrix_.devices[*open_];
    if (device.cells.size() != matrix_.devices.size()) {
      return error_at(1, "row '{}' has {} cells, the header {} devices", label_of(device), device.cells.size(),
                      matrix_.devices.size());
    }
    open_.reset();
    return {};
  }

  [[nodiscard]] Result<void> check_mirror() const {
    const std::vector<SmiDevice>& devices = matrix_.devices;
    for (std::size_t row = 0; row < devices.size(); ++row) {
      for (std::size_t column = 0; column < devices.size(); ++column) {
        const SmiCell& cell = devices[row].cells[column];
        const SmiCell& mirror = devices[column].cells[row];
        if ((cell.hop == SmiHop::kSelf) != (row == column)) {
          return fail(Code::kMalformed, "{}: row '{}', column '{}': X belongs on the diagonal and only there",
                      file_name_, label_of(devices[row]), label_of(devices[column]));
        }
        if (cell == mirror) continue;
        return fail(Code::kMismatch, "{}: row '{}', column '{}' says {}, but row '{}', column '{}' says {}", file_name_,
                    label_of(devices[row]), label_of(devices[column]), text_of(cell), label_of(devices[column]),
                    label_of(devices[row]), text_of(mirror));
      }
    }
    return {};
  }

  static std::string text_of(const SmiCell& cell) {
    return cell.hop == SmiHop::kNvlink ? fmt::format("NV{}", cell.links) : std::string(name_of(cell.hop));
  }
  [[nodiscard]] static const std::string& label_of(const SmiDevice& device) { return device.name; }

  void rename(SmiDevice& device) const {
    if (const auto number = numbered(device.name, "GPU")) {
      device.name = fmt::format("gpu{}", *number);
    } else if (const auto legend = nic_names_.find(device.name); legend != nic_names_.end()) {
      device.name = legend->second;
    }
  }

  std::string_view text_, file_name_;
  std::size_t begin_ = 0, line_ = 0, rows_ = 0;
  std::vector<Token> tokens_;
  std::optional<std::size_t> open_;
  bool in_legend_ = false, affinities_ = false;
  std::map<std::string, std::size_t> by_label_;
  std::map<std::string, std::string> nic_names_;
  SmiMatrix matrix_;
};

}  // namespace

std::string_view name_of(SmiHop hop) {
  switch (hop) {
    case SmiHop::kSelf:
      return "X";
    case SmiHop::kNvlink:
      return "NV#";
    case SmiHop::kPix:
      return "PIX";
    case SmiHop::kPxb:
      return "PXB";
    case SmiHop::kPhb:
      return "PHB";
    case SmiHop::kNode:
      return "NODE";
    case SmiHop::kSys:
      return "SYS";
  }
  return "SYS";
}

bool looks_like_smi_matrix(std::string_view text) {
  text = text.substr(0, std::size_t{1} << 20);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("GPU") == std::string_view::npos || line.size() > 65'536) continue;
    const std::vector<Token> tokens = tokens_of(line);
    if (is_row(tokens) && numbered(tokens.front().text, "GPU")) return true;
  }
  return false;
}

Result<SmiMatrix> read_smi_matrix(std::string_view text, std::string_view file_name) {
  return MatrixReader(text, file_name).read();
}

}  // namespace hocket

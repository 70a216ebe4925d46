#include "exchange/astra_workload.h"

#include <algorithm>

#include "exchange/csv.h"

namespace hocket {
namespace {

constexpr std::size_t kRowsMax = std::size_t{1} << 20;
constexpr std::size_t kNumbersMax = 1024;
constexpr std::array<std::string_view, 10> kKeys{
    "model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus", "checkpoints", "checkpoint_initiates", "pp_comm",
    "DLRM_LAST_BOTTOM_LAYER"};

struct Stem {
  std::string_view word;
  CollectiveKind kind;
};
constexpr std::array kStems{
    Stem{"ALLREDUCE", CollectiveKind::kAllReduce}, Stem{"ALLGATHER", CollectiveKind::kAllGather},
    Stem{"REDUCESCATTER", CollectiveKind::kReduceScatter}, Stem{"ALLTOALL", CollectiveKind::kAllToAll}};
struct Suffix {
  std::string_view word;
  AstraGroup group;
};
constexpr std::array kSuffixes{Suffix{"_DP_EP", AstraGroup::kDataOfExperts},
                               Suffix{"_EP", AstraGroup::kExpert},
                               Suffix{"_DP", AstraGroup::kData},
                               Suffix{"_TP", AstraGroup::kTensor},
                               Suffix{"_PP", AstraGroup::kPipeline},
                               Suffix{"", AstraGroup::kUsual}};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t start = line.find_first_not_of(" \t\r", at);
    if (start == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", start), line.size());
    words.push_back(line.substr(start, at - start));
  }
  return words;
}

/// Whether the word says something; the collective is empty for NONE.
bool read_word(std::string_view word, std::optional<AstraCollective>& collective) {
  for (const Suffix& suffix : kSuffixes) {
    if (!word.ends_with(suffix.word)) continue;
    const std::string_view stem = word.substr(0, word.size() - suffix.word.size());
    if (stem == "NONE") return true;
    for (const Stem& known : kStems) {
      if (stem != known.word) continue;
      collective = AstraCollective{std::string(word), known.kind, suffix.group, 0};
      return true;
    }
  }
  return false;
}

class WorkloadReader {
 public:
  WorkloadReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<AstraWorkload> read() {
    if (!next_line()) return fail(Code::kMalformed, "{}: the file is empty", file_name_);
    HOCKET_TRY(read_header());
    const bool has_count = next_line();
    const auto stated = has_count && words_.size() == 1 ? whole_number(words_.front()) : std::nullopt;
    if (!stated) return fail(Code::kMalformed, "{}:2: not a row count", file_name_);
    while (next_line()) {
      if (words_.empty()) continue;
      if (workload_.rows.size() == kRowsMax)
        return fail(Code::kResourceExhausted, "{}:{}: more than {} rows", file_name_, line_, kRowsMax);
      HOCKET_TRY(read_row());
    }
    if (workload_.rows.size() != *stated) {
      workload_.losses.repaired("line 2", fmt::format("row count {}", *stated),
                                fmt::format("{} rows follow", workload_.rows.size()));
    }
    return std::move(workload_);
  }

 private:
  bool next_line() {
    if (begin_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', begin_), text_.size());
    words_ = words_of(text_.substr(begin_, end - begin_));
    begin_ = end + 1;
    ++line_;
    return true;
  }

  Result<void> read_header() {
    workload_.policy = words_.empty() ? "" : std::string(words_.front().substr(0, 80));
    for (std::size_t i = 1; i + 1 < words_.size(); i += 2) {
      std::string_view key = words_[i];
      const bool has_colon = key.ends_with(":");
      if (has_colon) key.remove_suffix(1);
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        workload_.losses.ignored("line 1", fmt::format("key '{}'", key.substr(0, 40)), "unknown");
        continue;
      }
      if (!has_colon)
        workload_.losses.repaired("line 1", fmt::format("key '{}' without a colon", key), "taken as if it had one");
      const auto value = whole_number(words_[i + 1]);
      if (!value) {
        return fail(Code::kMalformed, "{}:1: key '{}': '{}' is not a whole number", file_name_, key,
                    words_[i + 1].substr(0, 40));
      }
      if (!workload_.keys.emplace(key, *value).second)
        return fail(Code::kMalformed, "{}:1: key '{}' stands twice", file_name_, key);
      if (key == "checkpoints") HOCKET_TRY(read_list(key, *value, i, workload_.checkpoints));
      if (key == "checkpoint_initiates") HOCKET_TRY(read_list(key, *value, i, workload_.checkpoint_initiates));
    }
    note_missing();
    return {};
  }

  /// The layers that follow a count; `i` moves on over them.
  Result<void> read_list(std::string_view key, std::uint64_t count, std::size_t& i, std::vector<std::uint64_t>& list) {
    if (count > kNumbersMax || count > words_.size() - i - 2) {
      return fail(Code::kMalformed, "{}:1: key '{}' announces {} layers, {} words follow", file_name_, key, count,
                  words_.size() - i - 2);
    }
    for (std::uint64_t k = 0; k < count; ++k, ++i) {
      const auto layer = whole_number(words_[i + 2]);
      if (!layer) {
        return fail(Code::kMalformed, "{}:1: key '{}': '{}' is not a whole number", file_name_, key,
                    words_[i + 2].substr(0, 40));
      }
      list.push_back(*layer);
    }
    return {};
  }

  void note_missing() {
    if (!workload_.policy.starts_with("HYBRID_TRANSFORMER")) return;
    for (const std::string_view key : kKeys) {
      if (key == "pp_comm" || key == "DLRM_LAST_BOTTOM_LAYER" || workload_.keys.contains(std::string(key))) continue;
      workload_.losses.repaired("line 1", fmt::format("key '{}' missing", key), "1 taken");
    }
  }

  Result<void> read_row() {
    if (words_.size() < 12 || words_.size() > 13)
      return fail(Code::kMalformed, "{}:{}: {} fields, a row has 12", file_name_, line_, words_.size());
    AstraRow row{.line = line_, .name = std::string(words_[0].substr(0, 80)), .dependency = std::string(words_[1])};
    for (const std::size_t i : {2, 4, 5, 7, 8, 10, 11}) {
      if (!whole_number(words_[i])) {
        return fail(Code::kMalformed, "{}:{}: field {} '{}' is not a whole number", file_name_, line_, i + 1,
                    words_[i].substr(0, 40));
      }
    }
    for (std::size_t pass = 0; pass < row.passes.size(); ++pass) {
      const std::size_t at = 2 + 3 * pass;
      row.passes[pass].time_ns = *whole_number(words_[at]);
      if (!read_word(words_[at + 1], row.passes[pass].collective)) {
        return fail(Code::kMalformed, "{}:{}: field {} '{}' is no collective", file_name_, line_, at + 2,
                    words_[at + 1].substr(0, 40));
      }
      if (row.passes[pass].collective) row.passes[pass].collective->bytes = *whole_number(words_[at + 2]);
    }
    row.update_time = *whole_number(words_[11]);
    if (words_.size() == 13) row.policy = std::string(words_[12].substr(0, 80));
    workload_.rows.push_back(std::move(row));
    return {};
  }

  std::string_view text_, file_name_;
  std::size_t begin_ = 0, line_ = 0;
  std::vector<std::string_view> words_;
  AstraWorkload workload_;
};

}  // namespace

bool is_astra_policy(std::string_view word) {
  return word == "MICRO" || word == "DATA" || word == "MODEL" || word.starts_with("HYBRID_") ||
         word == "DISTRIBUTED_INFERENCE" || word == "TRANSFORMER";
}

Result<AstraWorkload> parse_astra_workload(std::string_view text, std::string_view file_name) {
  return WorkloadReader(text, file_name).read();
}

}  // namespace hocket

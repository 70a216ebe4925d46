// Text workloads of ASTRA-sim 1.0 and SimAI: a policy line with `key: value` pairs, a row count, rows of 12 fields.
//   name dep fwd_time fwd_comm fwd_size ig_time ig_comm ig_size wg_time wg_comm wg_size update_time
// Words of collectives carry the group they run in as a suffix (ALLGATHER_DP_EP); an unknown word is an error, never an
// all-reduce. A row count that differs from the rows is a repair.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "exchange/csv.h"
#include "exchange/file_kind.h"

namespace hocket {
namespace {

constexpr std::array<std::string_view, 5> kCollectives{"NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"};
constexpr std::array<std::string_view, 9> kKeys{
    "model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus", "checkpoints", "checkpoint_initiates", "pp_comm"};

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

bool is_collective(std::string_view word) {
  for (const std::string_view suffix : {"_DP_EP", "_EP", "_DP", "_TP", "_PP", ""}) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view stem = word.substr(0, word.size() - suffix.size());
    if (std::find(kCollectives.begin(), kCollectives.end(), stem) != kCollectives.end()) return true;
  }
  return false;
}

bool is_policy(std::string_view word) {
  return word == "MICRO" || word == "DATA" || word == "MODEL" || word.starts_with("HYBRID_") ||
         word == "DISTRIBUTED_INFERENCE" || word == "TRANSFORMER";
}

class WorkloadExaminer {
 public:
  WorkloadExaminer(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<Examination> examine() {
    if (!next_line()) return fail(Code::kMalformed, "{}: the file is empty", file_name_);
    read_header();
    const bool has_count = next_line();
    const auto stated = has_count && words_.size() == 1 ? whole_number(words_.front()) : std::nullopt;
    if (!stated) return fail(Code::kMalformed, "{}:2: not a row count", file_name_);
    std::uint64_t rows = 0;
    while (next_line()) {
      if (words_.empty()) continue;
      HOCKET_TRY(read_row());
      ++rows;
    }
    if (rows != *stated) {
      result_.losses.repaired("line 2", fmt::format("row count {}", *stated), fmt::format("{} rows follow", rows));
    }
    describe(rows);
    return std::move(result_);
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

  void read_header() {
    policy_ = words_.empty() ? "" : std::string(words_.front().substr(0, 80));
    std::map<std::string_view, std::string_view> found;
    for (std::size_t i = 1; i + 1 < words_.size(); i += 2) {
      std::string_view key = words_[i];
      const bool has_colon = key.ends_with(":");
      if (has_colon) key.remove_suffix(1);
      const bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
      if (!known) result_.losses.ignored("line 1", fmt::format("key '{}'", key.substr(0, 40)), "unknown");
      if (known && !has_colon) {
        result_.losses.repaired("line 1", fmt::format("key '{}' without a colon", key), "taken as if it had one");
      }
      if (known) found[key] = words_[i + 1].substr(0, 40);
    }
    for (const std::string_view key : kKeys) {
      if (const auto entry = found.find(key); entry != found.end()) {
        result_.contents.push_back(fmt::format("{}: {}", key, entry->second));
      } else if (key != "pp_comm" && !policy_.starts_with("MICRO") && policy_.starts_with("HYBRID_TRANSFORMER")) {
        result_.losses.repaired("line 1", fmt::format("key '{}' missing", key), "1 taken");
      }
    }
  }

  Result<void> read_row() {
    if (words_.size() < 12 || words_.size() > 13) {
      return fail(Code::kMalformed, "{}:{}: {} fields, a row has 12", file_name_, line_, words_.size());
    }
    for (const std::size_t i : {2, 4, 5, 7, 8, 10, 11}) {
      if (!whole_number(words_[i])) {
        return fail(Code::kMalformed, "{}:{}: field {} '{}' is not a whole number", file_name_, line_, i + 1,
                    words_[i].substr(0, 40));
      }
    }
    for (const std::size_t i : {3, 6, 9}) {
      if (!is_collective(words_[i])) {
        return fail(Code::kMalformed, "{}:{}: field {} '{}' is no collective", file_name_, line_, i + 1,
                    words_[i].substr(0, 40));
      }
      ++collectives_[std::string(words_[i])];
      largest_ = std::max(largest_, *whole_number(words_[i + 1]));
    }
    ++names_[std::string(words_.front().substr(0, 80))];
    return {};
  }

  void describe(std::uint64_t rows) {
    std::vector<std::string> counts;
    counts.reserve(collectives_.size());
    for (const auto& [word, count] : collectives_) counts.push_back(fmt::format("{} {}", count, word));
    result_.contents.insert(
        result_.contents.begin(),
        {fmt::format("policy {}, {} rows, {} names", policy_, rows, names_.size()),
         fmt::format("collectives: {}", fmt::join(counts, ", ")), fmt::format("largest collective {} B", largest_)});
    result_.losses.assumed("", "times in ns, sizes in B", "the file has no units");
    result_.round_trip_text = "workloads are read only";
  }

  std::string_view text_, file_name_;
  std::size_t begin_ = 0, line_ = 0;
  std::vector<std::string_view> words_;
  std::string policy_;
  std::map<std::string, std::uint64_t> collectives_, names_;
  std::uint64_t largest_ = 0;
  Examination result_;
};

bool recognise(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end > 65'536) return false;  // also without an end of line
  const std::vector<std::string_view> words = words_of(bytes.substr(0, end));
  return !words.empty() && is_policy(words.front());
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  return WorkloadExaminer(bytes, file_name).examine();
}

}  // namespace

extern const FileKind file_kind_simai_workload{
    .name = "simai-workload",
    .description = "a text workload of ASTRA-sim 1.0 or SimAI",
    .not_a_topology = "; it says what the ranks compute and send, not what joins them",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket

// ASTRA-sim's system JSON: scheduling and the algorithm of every collective, one entry per network dimension. It holds
// no network. What can be checked is: words known, lists of equal length (a length that differs from the network's
// number of dimensions crashed ASTRA-sim; `hocket doctor network.yml system.json` compares the two).
#include <array>

#include "exchange/file_kind.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kCollectives{"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
constexpr std::array<std::string_view, 11> kOthers{"scheduling-policy",
                                                   "endpoint-delay",
                                                   "active-chunks-per-dimension",
                                                   "preferred-dataset-splits",
                                                   "collective-optimization",
                                                   "local-mem-bw",
                                                   "boost-mode",
                                                   "roofline-enabled",
                                                   "peak-perf",
                                                   "trace-enabled",
                                                   "replay-only"};

bool is_algorithm(std::string_view word) {
  for (const std::string_view known :
       {"ring", "oneRing", "halvingDoubling", "oneHalvingDoubling", "doubleBinaryTree"}) {
    if (word == known) return true;
  }
  for (const std::string_view prefix : {"direct", "oneDirect"}) {
    if (!word.starts_with(prefix)) continue;
    if (word.substr(prefix.size()).find_first_not_of("0123456789") == std::string_view::npos) return true;
  }
  return false;
}

class SystemExaminer {
 public:
  SystemExaminer(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<Examination> examine() {
    HOCKET_TRY_ASSIGN(const Json root, parse_json(text_, file_name_));
    for (const auto& [key, value] : root.items()) HOCKET_TRY(take(key, value));
    if (dimensions_ == 0) {
      return fail(Code::kMalformed, "{}: no list of algorithms ('all-reduce-implementation' ...)", file_name_);
    }
    result_.dimensions = static_cast<std::uint32_t>(dimensions_);
    result_.contents.insert(result_.contents.begin(), fmt::format("{} network dimension(s)", dimensions_));
    HOCKET_TRY_ASSIGN(const Json again, parse_json(root.dump(4), file_name_));
    result_.round_trip = again == root ? RoundTrip::kSame : RoundTrip::kDiffers;
    result_.round_trip_text = "JSON written and read again";
    return std::move(result_);
  }

 private:
  Result<void> take(const std::string& key, const Json& value) {
    for (const std::string_view collective : kCollectives) {
      if (key == fmt::format("{}-implementation", collective)) return take_algorithms(key, value);
      if (key != fmt::format("{}-implementation-custom", collective)) continue;
      result_.contents.push_back(
          fmt::format("{}: custom, from trace files {}", collective, value.dump().substr(0, 80)));
      return {};
    }
    for (const std::string_view known : kOthers) {
      if (key != known) continue;
      result_.contents.push_back(fmt::format("{}: {}{}", key, value.dump().substr(0, 80), unit_of(key)));
      return {};
    }
    result_.losses.ignored(json_line(text_, key), fmt::format("key '{}'", key.substr(0, 80)), "unknown");
    return {};
  }

  static std::string_view unit_of(std::string_view key) {
    if (key == "local-mem-bw") return " GB/s (unit assumed)";
    if (key == "peak-perf") return " TFLOPS (unit assumed)";
    if (key == "endpoint-delay") return " ns (unit assumed)";
    return "";
  }

  Result<void> take_algorithms(const std::string& key, const Json& value) {
    if (!value.is_array() || value.empty()) {
      return fail(Code::kMalformed, "{}: {}: '{}' is not a list of algorithms", file_name_, json_line(text_, key), key);
    }
    if (dimensions_ != 0 && value.size() != dimensions_) {
      return fail(Code::kMismatch, "{}: {}: '{}' has {} value(s), '{}' has {}", file_name_, json_line(text_, key), key,
                  value.size(), first_key_, dimensions_);
    }
    if (dimensions_ == 0) first_key_ = key;
    dimensions_ = value.size();
    for (const Json& entry : value) {
      if (entry.is_string() && is_algorithm(entry.get<std::string>())) continue;
      return fail(Code::kMalformed,
                  "{}: {}: '{}' holds {}, which is none of ring oneRing direct[N] oneDirect[N] halvingDoubling "
                  "oneHalvingDoubling doubleBinaryTree",
                  file_name_, json_line(text_, key), key, entry.dump().substr(0, 80));
    }
    result_.contents.push_back(fmt::format("{}: {}", key, value.dump().substr(0, 200)));
    return {};
  }

  std::string_view text_, file_name_;
  Examination result_;
  std::size_t dimensions_ = 0;
  std::string first_key_;
};

bool recognise(std::string_view bytes) {
  return has_json_key(bytes, "all-reduce-implementation") || has_json_key(bytes, "all-gather-implementation") ||
         (has_json_key(bytes, "scheduling-policy") && has_json_key(bytes, "preferred-dataset-splits"));
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  return SystemExaminer(bytes, file_name).examine();
}

}  // namespace

extern const FileKind file_kind_astra_system_json{
    .name = "astra-system-json",
    .description = "an ASTRA-sim system JSON (algorithms and scheduling)",
    .not_a_topology = "; the network is in the YAML given to --network-configuration",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket

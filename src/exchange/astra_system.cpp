#include "exchange/astra_system.h"

#include <algorithm>
#include <cmath>

#include "base/spelling.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

/// Keys whose value nothing of ours reads; what must hold for it.
constexpr std::array<std::string_view, 4> kSwitches{"boost-mode", "trace-enabled", "track-local-mem",
                                                    "model-shared-bus"};
constexpr std::array<std::string_view, 6> kNumbers{"L", "o", "g", "G", "local-reduction-delay", "local-mem-latency"};
constexpr std::array<std::string_view, 3> kTexts{"intra-dimension-scheduling", "inter-dimension-scheduling",
                                                 "local-mem-trace-filename"};
constexpr std::array<std::string_view, 9> kRead{"scheduling-policy",
                                                "endpoint-delay",
                                                "active-chunks-per-dimension",
                                                "preferred-dataset-splits",
                                                "collective-optimization",
                                                "local-mem-bw",
                                                "peak-perf",
                                                "roofline-enabled",
                                                "replay-only"};
constexpr double kLargest = 1e9;

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

template <class Names>
bool among(std::string_view key, const Names& names) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

class SystemReader {
 public:
  SystemReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<AstraSystem> read() {
    HOCKET_TRY_ASSIGN(const Json root, parse_json(text_, file_name_));
    if (!root.is_object()) return fail(Code::kMalformed, "{}: not an object of keys and values", file_name_);
    for (const auto& [key, value] : root.items()) HOCKET_TRY(take(key, value));
    if (system_.dimensions == 0)
      return fail(Code::kMalformed, "{}: no list of algorithms ('all-reduce-implementation' ...)", file_name_);
    return std::move(system_);
  }

 private:
  Result<void> take(const std::string& key, const Json& value) {
    bool known = among(key, kRead) || among(key, kSwitches) || among(key, kNumbers) || among(key, kTexts);
    for (const std::string_view collective : kAstraCollectives) {
      known = known || key == fmt::format("{}-implementation", collective) ||
              key == fmt::format("{}-implementation-custom", collective);
    }
    if (!known) return take_unknown(key);
    system_.entries.push_back({key, value.dump().substr(0, 200), json_line(text_, key)});
    for (std::size_t c = 0; c < kAstraCollectives.size(); ++c) {
      if (key == fmt::format("{}-implementation", kAstraCollectives[c])) return take_algorithms(c, key, value);
    }
    if (among(key, kSwitches)) return flag(key, value).map([](bool) {});
    if (among(key, kNumbers)) return number(key, value, "0 or more").map([](double) {});
    if (among(key, kRead)) return take_read(key, value);
    return {};
  }

  Result<void> take_unknown(const std::string& key) {
    std::vector<std::string> names(kRead.begin(), kRead.end());
    for (const auto& more : {std::span<const std::string_view>(kSwitches), {kNumbers}, {kTexts}})
      names.insert(names.end(), more.begin(), more.end());
    for (const std::string_view collective : kAstraCollectives)
      names.push_back(fmt::format("{}-implementation", collective));
    if (const std::string hint = spelling_hint(key, names); !hint.empty()) {
      return fail(Code::kMalformed, "{}: {}: unknown key '{}'{}", file_name_, json_line(text_, key), key.substr(0, 80),
                  hint);
    }
    system_.losses.ignored(json_line(text_, key), fmt::format("key '{}'", key.substr(0, 80)), "unknown");
    return {};
  }

  Result<void> take_read(const std::string& key, const Json& value) {
    if (key == "scheduling-policy") return take_policy(key, value);
    if (key == "collective-optimization") {
      if (value != "baseline" && value != "localBWAware") return wrong(key, value, "baseline or localBWAware");
      system_.bandwidth_aware = value == "localBWAware";
      return {};
    }
    if (key == "roofline-enabled" || key == "replay-only") {
      HOCKET_TRY_ASSIGN((key == "replay-only" ? system_.replay_only : system_.roofline), flag(key, value));
      return {};
    }
    if (key == "endpoint-delay") return whole(key, value, 0).map([&](double n) { system_.endpoint_delay_ns = n; });
    if (key == "active-chunks-per-dimension") {
      return whole(key, value, 1).map([&](double n) { system_.active_chunks = static_cast<std::uint32_t>(n); });
    }
    if (key == "preferred-dataset-splits")
      return whole(key, value, 1).map([&](double n) { system_.splits = static_cast<std::uint32_t>(n); });
    HOCKET_TRY_ASSIGN(const double rate, number(key, value, "above 0"));
    if (rate <= 0) return wrong(key, value, "a number above 0");
    (key == "peak-perf" ? system_.peak_TFLOPS : system_.local_memory_GBps) = rate;
    return {};
  }

  Result<void> take_policy(const std::string& key, const Json& value) {
    if (value == "EXPLICIT") {
      system_.explicit_order = true;
    } else if (value == "LIFO" || value == "FIFO") {
      system_.order = value == "LIFO" ? CollectiveOrder::kLifo : CollectiveOrder::kFifo;
    } else {
      return wrong(key, value, "LIFO, FIFO or EXPLICIT");
    }
    return {};
  }

  tl::unexpected<Error> wrong(const std::string& key, const Json& value, std::string_view wanted) const {
    return fail(Code::kMalformed, "{}: {}: '{}' is {}, not {}", file_name_, json_line(text_, key), key,
                value.dump().substr(0, 80), wanted);
  }

  Result<bool> flag(const std::string& key, const Json& value) const {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer() && (value == 0 || value == 1)) return value == 1;
    return wrong(key, value, "0 or 1");
  }

  Result<double> number(const std::string& key, const Json& value, std::string_view bound) const {
    const double found = value.is_number() ? value.get<double>() : -1;
    if (found >= 0 && found <= kLargest) return found;
    return wrong(key, value, fmt::format("a number {} and at most 10^9", bound));
  }

  Result<double> whole(const std::string& key, const Json& value, double least) const {
    const double found = value.is_number() ? value.get<double>() : -1;
    if (found >= least && found <= kLargest && found == std::floor(found)) return found;
    return wrong(key, value, fmt::format("a whole number of {} or more and at most 10^9", least));
  }

  Result<void> take_algorithms(std::size_t collective, const std::string& key, const Json& value) {
    if (!value.is_array() || value.empty())
      return fail(Code::kMalformed, "{}: {}: '{}' is not a list of algorithms", file_name_, json_line(text_, key), key);
    if (system_.dimensions != 0 && value.size() != system_.dimensions) {
      return fail(Code::kMismatch, "{}: {}: '{}' has {} value(s), '{}' has {}", file_name_, json_line(text_, key), key,
                  value.size(), first_key_, system_.dimensions);
    }
    if (system_.dimensions == 0) first_key_ = key;
    system_.dimensions = value.size();
    for (const Json& entry : value) {
      if (!entry.is_string() || !is_algorithm(entry.get<std::string>())) {
        return fail(Code::kMalformed,
                    "{}: {}: '{}' holds {}, which is none of ring oneRing direct[N] oneDirect[N] halvingDoubling "
                    "oneHalvingDoubling doubleBinaryTree",
                    file_name_, json_line(text_, key), key, entry.dump().substr(0, 80));
      }
      system_.algorithms[collective].push_back(entry.get<std::string>());
    }
    return {};
  }

  std::string_view text_, file_name_;
  AstraSystem system_;
  std::string first_key_;
};

}  // namespace

const AstraSystem::Entry* AstraSystem::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

bool looks_like_astra_system(std::string_view text) {
  return has_json_key(text, "all-reduce-implementation") || has_json_key(text, "all-gather-implementation") ||
         (has_json_key(text, "scheduling-policy") && has_json_key(text, "preferred-dataset-splits"));
}

Result<AstraSystem> read_astra_system(std::string_view text, std::string_view file_name) {
  return SystemReader(text, file_name).read();
}

}  // namespace hocket

#include "exchange/astra_memory.h"

#include <array>
#include <cmath>

#include "base/spelling.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKinds{AstraMemoryKind::kNone, AstraMemoryKind::kPerNpu, AstraMemoryKind::kPerNode,
                            AstraMemoryKind::kPool};
constexpr std::array<std::string_view, 5> kKeys{"memory-type", "remote-mem-latency", "remote-mem-bw", "num-nodes",
                                                "num-npus-per-node"};
constexpr double kLargest = 1e9;

class MemoryReader {
 public:
  MemoryReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<AstraMemory> read() {
    HOCKET_TRY_ASSIGN(const Json root, parse_json(text_, file_name_));
    if (!root.is_object() || !root.contains("memory-type"))
      return fail(Code::kMalformed, "{}: key 'memory-type' is missing", file_name_);
    for (const auto& [key, value] : root.items()) HOCKET_TRY(take(key, value));
    if (memory_.kind == AstraMemoryKind::kNone) return std::move(memory_);
    if (!memory_.bandwidth_GBps || *memory_.bandwidth_GBps <= 0) {
      return fail(Code::kMalformed, "{}: {}: memory-type {} needs 'remote-mem-bw' above 0, it is {}", file_name_,
                  json_line(text_, "memory-type"), name_of(memory_.kind), memory_.bandwidth_GBps ? "0" : "missing");
    }
    if (memory_.kind == AstraMemoryKind::kPerNode && (!memory_.nodes || !memory_.npus_per_node)) {
      return fail(Code::kMalformed, "{}: {}: memory-type {} needs '{}'", file_name_, json_line(text_, "memory-type"),
                  name_of(memory_.kind), memory_.nodes ? "num-npus-per-node" : "num-nodes");
    }
    return std::move(memory_);
  }

 private:
  Result<void> take(const std::string& key, const Json& value) {
    if (key == "memory-type") return take_kind(value);
    if (key == "remote-mem-latency") return number(key, value, 0, false, memory_.latency_ns);
    if (key == "remote-mem-bw") return number(key, value, 0, false, memory_.bandwidth_GBps);
    if (key == "num-nodes" || key == "num-npus-per-node") {
      std::optional<double> count;
      HOCKET_TRY(number(key, value, 1, true, count));
      (key == "num-nodes" ? memory_.nodes : memory_.npus_per_node) = static_cast<std::uint32_t>(*count);
      return {};
    }
    if (const std::string hint = spelling_hint(key, kKeys); !hint.empty()) {
      return fail(Code::kMalformed, "{}: {}: unknown key '{}'{}", file_name_, json_line(text_, key), key.substr(0, 80),
                  hint);
    }
    memory_.losses.ignored(json_line(text_, key), fmt::format("key '{}'", key.substr(0, 80)), "unknown");
    return {};
  }

  Result<void> take_kind(const Json& value) {
    for (const AstraMemoryKind kind : kKinds) {
      if (value != std::string(name_of(kind))) continue;
      memory_.kind = kind;
      return {};
    }
    return fail(Code::kMalformed,
                "{}: {}: 'memory-type' is {}, none of NO_MEMORY_EXPANSION PER_NPU_MEMORY_EXPANSION "
                "PER_NODE_MEMORY_EXPANSION MEMORY_POOL",
                file_name_, json_line(text_, "memory-type"), value.dump().substr(0, 80));
  }

  Result<void> number(const std::string& key, const Json& value, double least, bool whole,
                      std::optional<double>& found) const {
    found = value.is_number() ? value.get<double>() : -1;
    if (*found >= least && *found <= kLargest && (!whole || *found == std::floor(*found))) return {};
    return fail(Code::kMalformed, "{}: {}: '{}' is {}, not a {}number of {} or more and at most 10^9", file_name_,
                json_line(text_, key), key, value.dump().substr(0, 80), whole ? "whole " : "", least);
  }

  std::string_view text_, file_name_;
  AstraMemory memory_;
};

}  // namespace

std::string_view name_of(AstraMemoryKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                                   "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool looks_like_astra_memory(std::string_view text) { return has_json_key(text, "memory-type"); }

Result<AstraMemory> read_astra_memory(std::string_view text, std::string_view file_name) {
  return MemoryReader(text, file_name).read();
}

}  // namespace hocket

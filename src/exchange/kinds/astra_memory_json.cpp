// ASTRA-sim's remote memory JSON: which memory expansion there is, with its rates. No network.
#include "exchange/file_kind.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

bool recognise(std::string_view bytes) { return has_json_key(bytes, "memory-type"); }

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json root, parse_json(bytes, file_name));
  const auto type = root.find("memory-type");
  if (type == root.end() || !type->is_string()) {
    return fail(Code::kMalformed, "{}: {}: 'memory-type' is not a word", file_name, json_line(bytes, "memory-type"));
  }
  constexpr std::string_view kKnown =
      " NO_MEMORY_EXPANSION PER_NODE_MEMORY_EXPANSION PER_NPU_MEMORY_EXPANSION MEMORY_POOL ";
  const std::string word = type->get<std::string>();
  Examination result;
  result.contents.push_back(fmt::format("memory-type: {}", word.substr(0, 80)));
  if (kKnown.find(fmt::format(" {} ", word)) == std::string_view::npos) {
    result.losses.assumed(json_line(bytes, "memory-type"), fmt::format("'{}' as a kind of memory", word.substr(0, 80)),
                          "not one of those ASTRA-sim names");
  }
  for (const auto& [key, value] : root.items()) {
    if (key == "memory-type") continue;
    const std::string_view unit = key.ends_with("-bw")        ? " GB/s (unit assumed)"
                                  : key.ends_with("-latency") ? " ns (unit assumed)"
                                                              : "";
    result.contents.push_back(fmt::format("{}: {}{}", key.substr(0, 80), value.dump().substr(0, 80), unit));
  }
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json again, parse_json(root.dump(), file_name));
  result.round_trip = again == root ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text = "JSON written and read again";
  return result;
}

}  // namespace

extern const FileKind file_kind_astra_memory_json{
    .name = "astra-memory-json",
    .description = "an ASTRA-sim remote memory JSON",
    .not_a_topology = "; the network is in the YAML given to --network-configuration",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket

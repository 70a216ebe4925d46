// ASTRA-sim's system JSON for `hocket doctor`. It holds no network; lists of a length that differs from the network's
// number of dimensions crashed ASTRA-sim, so `hocket doctor network.yml system.json` compares the two.
#include "exchange/astra_system.h"
#include "exchange/file_kind.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

std::string_view unit_of(std::string_view key) {
  if (key == "local-mem-bw") return " GB/s (unit assumed)";
  if (key == "peak-perf") return " TFLOPS (unit assumed)";
  if (key == "endpoint-delay") return " ns (unit assumed)";
  return key.ends_with("-custom") ? " (trace files)" : "";
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const AstraSystem system, read_astra_system(bytes, file_name));
  Examination result;
  result.dimensions = static_cast<std::uint32_t>(system.dimensions);
  result.contents.push_back(fmt::format("{} network dimension(s)", system.dimensions));
  for (const AstraSystem::Entry& e : system.entries)
    result.contents.push_back(fmt::format("{}: {}{}", e.key, e.value, unit_of(e.key)));
  result.losses = system.losses;
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json root, parse_json(bytes, file_name));
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json again, parse_json(root.dump(4), file_name));
  result.round_trip = again == root ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text = "JSON written and read again";
  return result;
}

}  // namespace

extern const FileKind file_kind_astra_system_json{
    .name = "astra-system-json",
    .description = "an ASTRA-sim system JSON (algorithms and scheduling)",
    .not_a_topology = "; the network is in the YAML given to --network-configuration",
    .recognise = looks_like_astra_system,
    .examine = examine,
};

}  // namespace hocket

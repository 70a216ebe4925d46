// ASTRA-sim's remote memory JSON for `hocket doctor`: which memory expansion there is, with its rates. No network.
#include "exchange/astra_memory.h"
#include "exchange/file_kind.h"
#include "exchange/json_text.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const AstraMemory memory, read_astra_memory(bytes, file_name));
  Examination result;
  result.contents.push_back(fmt::format("memory-type: {}", name_of(memory.kind)));
  if (memory.latency_ns)
    result.contents.push_back(fmt::format("remote-mem-latency: {} ns (unit assumed)", *memory.latency_ns));
  if (memory.bandwidth_GBps)
    result.contents.push_back(fmt::format("remote-mem-bw: {} GB/s (unit assumed)", *memory.bandwidth_GBps));
  if (memory.nodes) result.contents.push_back(fmt::format("num-nodes: {}", *memory.nodes));
  if (memory.npus_per_node) result.contents.push_back(fmt::format("num-npus-per-node: {}", *memory.npus_per_node));
  result.losses = memory.losses;
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json root, parse_json(bytes, file_name));
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
    .recognise = looks_like_astra_memory,
    .examine = examine,
};

}  // namespace hocket

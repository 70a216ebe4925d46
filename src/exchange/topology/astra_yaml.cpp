// ASTRA-sim's analytical network YAML as a topology. Every link has the bandwidth given, each way; a Switch adds one
// switch per line of its dimension, with the latency on both of its hops. Ranks count dimension 0 fastest.
#include "exchange/astra_network.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(AstraNetwork network, read_astra_network(text, file_name));
  TopologyBuilder builder{std::string(file_name), "file"};
  HOCKET_TRY(add_product(builder, network.dimensions, fmt::format("{}: the network", file_name)));
  return build_with_losses(std::move(builder), std::move(network.losses));
}

}  // namespace

extern const TopologyFormat topology_format_astra_yaml{
    .name = "astra-yaml",
    .extensions = "",
    .description = "ASTRA-sim analytical network YAML",
    .recognise = looks_like_astra_network,
    .read = read,
    .write = nullptr,
    .describe = nullptr,
};

}  // namespace hocket

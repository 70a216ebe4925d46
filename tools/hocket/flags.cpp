#include "flags.h"

#include <fmt/format.h>

#include "base/version.h"
#include "exchange/load_topology.h"

namespace hocket {

void TopologyFlags::declare(CLI::App& app, bool positional, bool required) {
  CLI::Option* option = positional ? app.add_option("topology", topology, "words (torus:4x4) or a file")
                                   : app.add_option("--topo", topology, "words (torus:4x4) or a file");
  if (required) option->required();
  app.add_option("--link", links, "bandwidth,latency of a link; repeat for further dimensions [16GB/s,150ns]")
      ->allow_extra_args(false);
  app.add_option("--uplink", uplink, "bandwidth,latency of the outer level of two-level networks");
  app.add_option("--break", breaks, "remove the cables between two vertices: A-B")->allow_extra_args(false);
  app.add_option("--scale", scales, "multiply the bandwidth between two vertices: A-B=F")->allow_extra_args(false);
  app.add_option("--group", group, "npus that take part: 0,1,4-7");
  app.add_flag("--direct-only", direct_only, "keep npus and GPU switches only");
  app.add_flag("--strict", strict, "refuse a topology file that would have to be repaired");
}

Result<Topology> TopologyFlags::load() const {
  TopologyOptions options;
  for (const std::string& text : links) {
    HOCKET_TRY_ASSIGN(const LinkRate rate, parse_link_rate(text));
    options.links.push_back(rate);
  }
  if (!uplink.empty()) {
    HOCKET_TRY_ASSIGN(options.uplink, parse_link_rate(uplink));
  }
  options.breaks = breaks;
  options.scales = scales;
  options.group = group;
  options.direct_only = direct_only;
  return load_topology(topology, options, strict ? Repairs::kRefuse : Repairs::kAccept);
}

void CollectiveFlags::declare(CLI::App& app) {
  app.add_option("--size", size, "bytes of the whole vector (nccl-tests' size column)")->capture_default_str();
  app.add_option("--dtype", type, "i8 u8 i32 u32 i64 u64 f16 bf16 f32 f64")->capture_default_str();
  app.add_option("--op", op, "sum prod min max avg")->capture_default_str();
  app.add_option("--root", root, "root of broadcast and reduce")->capture_default_str();
}

Result<BoundCollective> CollectiveFlags::bind(CollectiveKind kind, std::uint32_t ranks) const {
  BoundCollective what;
  what.collective = {kind, ranks, is_rooted(kind) ? root : 0};
  HOCKET_TRY_ASSIGN(const Bytes bytes, parse_bytes(size));
  HOCKET_TRY_ASSIGN(what.type, parse_data_type(type));
  HOCKET_TRY_ASSIGN(what.op, parse_reduce_op(op));
  what.count = bytes.count / size_of(what.type);
  if (is_blocked(kind)) what.count -= what.count % ranks;
  HOCKET_TRY(validate(what));
  return what;
}

void SimulationFlags::declare(CLI::App& app) {
  app.add_option("--model", model, "network model: message, packet or fluid")->capture_default_str();
  app.add_option("--segment", segment, "bytes that move at once [the best of several]");
}

Result<SimulateOptions> SimulationFlags::options() const {
  SimulateOptions options;
  if (model == "message") {
    options.model = NetworkModel::kMessage;
  } else if (model == "packet") {
    options.model = NetworkModel::kPacket;
  } else if (model == "fluid") {
    options.model = NetworkModel::kFluid;
  } else {
    return fail(Code::kInvalidArgument, "unknown network model '{}'; known: message, packet, fluid", model);
  }
  return options;
}

Result<Bytes> SimulationFlags::segment_bytes() const {
  if (segment.empty()) return Bytes{0};
  HOCKET_TRY_ASSIGN(const Bytes bytes, parse_bytes(segment));
  if (bytes.count == 0) return fail(Code::kInvalidArgument, "--segment {}: must be above zero", segment);
  return bytes;
}

nlohmann::ordered_json document(std::string_view verb) {
  return {{"hocket", std::string(build_stamp().version)}, {"verb", std::string(verb)}, {"schema", 1}};
}

void print_json(const nlohmann::ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace hocket

#include "flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/say.h"
#include "base/version.h"
#include "exchange/load_topology.h"
#include "lost_rank.h"

namespace hocket {

void TopologyFlags::declare(CLI::App& app, bool positional, bool required) {
  CLI::Option* option = positional ? app.add_option("topology", topology, "words (torus:4x4) or a file")
                                   : app.add_option("--topo", topology, "words (torus:4x4) or a file");
  if (required) option->required();
  declare_changes(app);
}

void TopologyFlags::declare_changes(CLI::App& app) {
  app.add_option("--link", links, "bandwidth,latency of a link; repeat for further dimensions [16GB/s,150ns]")
      ->allow_extra_args(false);
  app.add_option("--uplink", uplink, "bandwidth,latency of the outer level of two-level networks");
  app.add_option("--break", breaks, "remove the cables between two vertices: A-B, or one vertex: A")
      ->allow_extra_args(false);
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
  app.add_option("--root", root, "root of broadcast and reduce [0]");
}

namespace {

/// An element, or one for every rank.
std::int64_t least_size(const BoundCollective& what) {
  return size_of(what.type) * (is_blocked(what.collective.kind) ? what.collective.ranks : 1);
}

}  // namespace

Result<BoundCollective> CollectiveFlags::bind(CollectiveKind kind, std::uint32_t ranks) const {
  BoundCollective what;
  if (root && !is_rooted(kind)) return fail(Code::kInvalidArgument, "--root {}: {} has no root", *root, name_of(kind));
  what.collective = {kind, ranks, root.value_or(0)};
  HOCKET_TRY_ASSIGN(const Bytes bytes, parse_bytes(size));
  HOCKET_TRY_ASSIGN(what.type, parse_data_type(type));
  HOCKET_TRY_ASSIGN(what.op, parse_reduce_op(op));
  if (!reduces(kind) && what.op != ReduceOp::kSum)
    return fail(Code::kInvalidArgument, "--op {}: {} combines nothing", op, name_of(kind));
  what.count = bytes.count / size_of(what.type);
  if (is_blocked(kind)) what.count -= what.count % ranks;
  HOCKET_TRY(validate(what));
  if (what.bytes() == bytes) return what;
  if (what.count == 0)
    return fail(Code::kInvalidArgument, "--size {}: less than {}B, the least that {} of {} over {} ranks can share",
                size, least_size(what), name_of(kind), name_of(what.type), ranks);
  return what;
}

void CollectiveFlags::note_cut(const BoundCollective& what) const {
  const Result<Bytes> asked = parse_bytes(size);
  // Whoever has started this rank here has said so.
  if (!asked || *asked == what.bytes() || LostRank::started_here()) return;
  say("note: --size {} is no multiple of {}B, {} is taken\n", size, least_size(what), format_bytes(what.bytes()));
}

Result<BoundCollective> CollectiveFlags::bind(const Collective& collective, const std::string& file) const {
  if (root && is_rooted(collective.kind) && *root != collective.root)
    return fail(Code::kMismatch, "{}: --root {} but the schedule has root {}", file, *root, collective.root);
  CollectiveFlags agreed = *this;
  if (is_rooted(collective.kind)) agreed.root = collective.root;
  return agreed.bind(collective.kind, collective.ranks);
}

void SimulationFlags::declare(CLI::App& app) {
  app.add_option("--model", model, "network model: message, packet, fluid or tcp")->capture_default_str();
  app.add_option("--segment", segment, "bytes that move at once [the best of several]");
  app.add_option("--payload", payload, "packet model: bytes of data in a packet [256]");
  app.add_option("--head", head, "packet model: bytes of a head flit [16]");
  app.add_option("--message-overhead", overhead, "a segment holds its first link that much longer")
      ->capture_default_str();
  app.add_option("--copy-rate", copy_rate, "a rank's rate of copying what arrives [no limit]");
  app.add_option("--reduce-rate", reduce_rate, "a rank's rate of reducing what arrives [no limit]");
  app.add_flag("--store-and-forward", store_and_forward, "a hop starts when all of a segment (packet) is there");
  app.add_option("--inject", inject,
                 "packet model: a send leaves when ready, in lockstep, or in the steps of an oracle")
      ->capture_default_str();
  app.add_option("--flow-control", flow_control, "packet model: a head flit per packet or per message")
      ->capture_default_str();
  app.add_option("--interfaces", interfaces, "packet model: network interfaces of a rank, 0 = one per link")
      ->capture_default_str();
}

namespace {

Result<InterfaceOptions> interface_options(const SimulationFlags& flags) {
  InterfaceOptions options;
  options.count = flags.interfaces;
  if (flags.inject == "lockstep") {
    options.injection = Injection::kLockStep;
  } else if (flags.inject == "oracle") {
    options.injection = Injection::kGlobalStep;
  } else if (flags.inject != "ready") {
    return fail(Code::kInvalidArgument, "unknown --inject '{}'; known: ready, lockstep, oracle", flags.inject);
  }
  if (flags.flow_control == "message") {
    options.flow_control = FlowControl::kMessage;
  } else if (flags.flow_control != "packet") {
    return fail(Code::kInvalidArgument, "unknown --flow-control '{}'; known: packet, message", flags.flow_control);
  }
  return options;
}

}  // namespace

Result<SimulateOptions> SimulationFlags::options() const {
  SimulateOptions options;
  const auto* const named = std::find_if(kNetworkModels.begin(), kNetworkModels.end(),
                                         [&](NetworkModel known) { return name_of(known) == model; });
  if (named == kNetworkModels.end())
    return fail(Code::kInvalidArgument, "unknown network model '{}'; known: message, packet, fluid, tcp", model);
  options.model = *named;
  options.store_and_forward = store_and_forward;
  HOCKET_TRY_ASSIGN(options.interfaces, interface_options(*this));
  for (const auto& [name, words] : {std::pair("--payload", &payload), std::pair("--head", &head)}) {
    if (*words && options.model != NetworkModel::kPacket)
      return fail(Code::kInvalidArgument, "{} {}: the {} model has no packets", name, **words, model);
  }
  if (payload) {
    HOCKET_TRY_ASSIGN(options.packet_payload, parse_bytes(*payload));
  }
  if (head) {
    HOCKET_TRY_ASSIGN(options.head_flit, parse_bytes(*head));
  }
  HOCKET_TRY_ASSIGN(options.per_message_overhead, parse_seconds(overhead));
  if (!copy_rate.empty()) {
    HOCKET_TRY_ASSIGN(options.copy_rate, parse_bandwidth(copy_rate));
  }
  if (!reduce_rate.empty()) {
    HOCKET_TRY_ASSIGN(options.reduce_rate, parse_bandwidth(reduce_rate));
  }
  return options;
}

Result<Bytes> SimulationFlags::segment_bytes() const { return parse_segment(segment); }

Result<Bytes> parse_segment(const std::string& words, std::span<const DataType> types) {
  if (words.empty()) return Bytes{0};
  const Result<Bytes> bytes = parse_bytes(words);
  if (!bytes) return fail(bytes.error().code, "--segment: {}", bytes.error().text);
  if (bytes->count == 0) return fail(Code::kInvalidArgument, "--segment {}: must be above zero", words);
  for (const DataType type : types) {
    if (bytes->count < size_of(type))
      return fail(Code::kInvalidArgument, "--segment {}: an element of {} has {}B", words, name_of(type),
                  size_of(type));
  }
  return *bytes;
}

std::string emphasised(const std::string& text) {
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (isatty(STDOUT_FILENO) == 0 || (no_color != nullptr && *no_color != '\0')) return text;
  return fmt::format("\x1b[1m{}\x1b[0m", text);
}

nlohmann::ordered_json document(std::string_view verb) {
  return {{"hocket", std::string(build_stamp().version)}, {"verb", std::string(verb)}, {"schema", 1}};
}

void print_json(const nlohmann::ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace hocket

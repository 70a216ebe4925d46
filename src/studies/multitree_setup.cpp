#include "studies/multitree_setup.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr BytesPerSecond kLinkRate{16e9};
constexpr Seconds kLinkLatency{150e-9};
constexpr BytesPerSecond kAddRate{128e9};

constexpr InterfaceOptions kOne{.injection = Injection::kWhenReady, .flow_control = FlowControl::kPacket, .count = 1};
constexpr InterfaceOptions kFour{.injection = Injection::kWhenReady, .flow_control = FlowControl::kPacket, .count = 4};

constexpr InterfaceOptions multitree(Injection injection, FlowControl control) {
  return {.injection = injection, .flow_control = control, .count = 4};
}

constexpr std::array<MultitreeScheme, 7> kSchemes{{
    {"ring", "ring", kOne, false},
    {"dbtree", "double_binary_tree", kOne, true},
    {"2d-ring", "dimension_rings", kFour, false},
    {"hdrm", "hdrm", kOne, false},
    {"multitree-packet", "multitree", multitree(Injection::kLockStep, FlowControl::kPacket), false},
    {"multitree-message", "multitree", multitree(Injection::kLockStep, FlowControl::kMessage), false},
    {"multitree-ready", "multitree", multitree(Injection::kWhenReady, FlowControl::kMessage), false},
}};

/// A vector is cut in so many segments when messages are pipelined; the first: not at all.
constexpr std::array<std::int64_t, 4> kParts{1, 16, 64, 256};

BoundCollective all_reduce(std::uint32_t ranks, Bytes size) {
  return {.collective = {CollectiveKind::kAllReduce, ranks, 0},
          .count = size.count / size_of(DataType::kF32),
          .type = DataType::kF32,
          .op = ReduceOp::kSum};
}

}  // namespace

const MultitreeScheme& multitree_scheme(std::string_view name) {
  const auto* const found =
      std::find_if(kSchemes.begin(), kSchemes.end(), [&](const MultitreeScheme& s) { return s.name == name; });
  HOCKET_ASSERT(found != kSchemes.end(), "no scheme of this name");
  return *found;
}

SimulateOptions MultitreeBench::options(const MultitreeScheme& scheme) {
  SimulateOptions options;
  options.model = NetworkModel::kPacket;
  options.interfaces = scheme.interfaces;
  options.reduce_rate = kAddRate;
  return options;
}

Result<const Topology*> MultitreeBench::network(const std::string& spec) {
  auto at = networks_.find(spec);
  if (at == networks_.end()) {
    TopologyOptions options;
    options.links = {LinkRate{kLinkRate, kLinkLatency}};
    options.uplink = LinkRate{kLinkRate, kLinkLatency};
    HOCKET_TRY_ASSIGN(Topology topology, topology_from_spec(spec, options));
    at = networks_.emplace(spec, std::move(topology)).first;
  }
  return &at->second;
}

Result<const VerifiedSchedule*> MultitreeBench::schedule(const std::string& network, std::string_view algorithm) {
  const std::pair key{network, std::string(algorithm)};
  auto at = schedules_.find(key);
  if (at == schedules_.end()) {
    HOCKET_TRY_ASSIGN(const Topology* const topology, this->network(network));
    HOCKET_TRY_ASSIGN(const Algorithm* const found, find_algorithm(algorithm));
    const Collective collective{CollectiveKind::kAllReduce, topology->rank_count(), 0};
    HOCKET_TRY_ASSIGN(VerifiedSchedule verified, plan_algorithm(*found, {*topology, collective}));
    at = schedules_.emplace(key, std::move(verified)).first;
  }
  return &at->second;
}

Result<SimulationResult> MultitreeBench::simulated(const std::string& network, const MultitreeScheme& scheme,
                                                   Bytes size, const SimulateOptions& options) {
  if (progress) progress(fmt::format("{} {} {}", network, scheme.name, format_bytes(size)));
  HOCKET_TRY_ASSIGN(const Topology* const topology, this->network(network));
  HOCKET_TRY_ASSIGN(const VerifiedSchedule* const verified, schedule(network, scheme.algorithm));
  const BoundCollective what = all_reduce(topology->rank_count(), size);
  PlanningOptions search;
  search.simulate = options;
  std::optional<SimulationResult> best;
  for (const std::int64_t parts : kParts) {
    search.segment = {std::max<std::int64_t>(size.count / parts, options.packet_payload.count)};
    HOCKET_TRY_ASSIGN(Candidate tried, simulate_best(*verified, *topology, what, search));
    if (!best || tried.simulated.time < best->time) best = std::move(tried.simulated);
    if (!scheme.pipelined) break;
  }
  return std::move(*best);
}

Result<Picos> MultitreeBench::time(const std::string& network, std::string_view scheme, Bytes size, bool add_time) {
  SimulateOptions options = MultitreeBench::options(multitree_scheme(scheme));
  if (!add_time) options.reduce_rate = {};
  HOCKET_TRY_ASSIGN(const SimulationResult result, simulated(network, multitree_scheme(scheme), size, options));
  return result.time;
}

}  // namespace hocket

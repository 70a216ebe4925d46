#include "platform/platform.h"

#include <algorithm>
#include <set>

#include "base/spelling.h"
#include "platform/fields.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Result<void> check_budget(const Platform& platform, const EndpointModel& endpoint, const CommunicationEngine& engine) {
  if (engine.units && engine.units->value > endpoint.compute_units->value) {
    return fail(Code::kMismatch, "{}: engine '{}' takes {} compute units, the endpoint has {}", platform.name,
                engine.name, engine.units->value, endpoint.compute_units->value);
  }
  if (engine.memory_bandwidth && engine.memory_bandwidth->value > endpoint.memory_bandwidth->value) {
    return fail(Code::kMismatch, "{}: engine '{}' takes {} of memory bandwidth, the endpoint has {}", platform.name,
                engine.name, format_bandwidth({engine.memory_bandwidth->value}),
                format_bandwidth({endpoint.memory_bandwidth->value}));
  }
  if (engine.split == BudgetSplit::kStatic && !engine.memory_bandwidth) {
    return fail(Code::kMalformed, "{}: engine '{}' splits the memory bandwidth, but has no budget of it", platform.name,
                engine.name);
  }
  return {};
}

/// What another kind would read has nothing to act on.
Result<void> check_kind(const Platform& platform, const CommunicationEngine& engine) {
  for (const FigureField<CommunicationEngine>& field : engine_fields()) {
    if (!field.only || *field.only == engine.kind || !(engine.*field.member)) continue;
    return fail(Code::kMismatch, "{}: engine '{}' of kind {} has '{}' {}: only kind {} reads it", platform.name,
                engine.name, name_of(engine.kind), field.key, format_figure(field.unit, (engine.*field.member)->value),
                name_of(*field.only));
  }
  return {};
}

Result<void> check_power(const Platform& platform) {
  const PowerModel& power = platform.power;
  if (!power.idle || !power.limit || power.idle->value <= power.limit->value) return {};
  return fail(Code::kMismatch, "{}: power: idle {} is above the limit {}", platform.name,
              format_figure(FigureUnit::kPower, power.idle->value),
              format_figure(FigureUnit::kPower, power.limit->value));
}

Result<void> check_engine(const Platform& platform, const CommunicationEngine& engine) {
  if (engine.name.empty() || engine.name == "all")
    return fail(Code::kMalformed, "{}: an engine is called '{}': 'all' means every engine, and each has a name",
                platform.name, engine.name);
  HOCKET_TRY(check_kind(platform, engine));
  const auto lacks = [&](std::string_view figure) {
    return fail(Code::kMalformed, "{}: engine '{}' of kind {} lacks '{}'", platform.name, engine.name,
                name_of(engine.kind), figure);
  };
  if (engine.kind == EngineKind::kAce && !engine.sram) return lacks("sram");
  if (engine.kind == EngineKind::kAce && !engine.machines) return lacks("machines");
  if (engine.kind == EngineKind::kDma && engine.dma_engines.has_value() != engine.dma_bandwidth.has_value()) {
    return lacks(engine.dma_engines ? "dma_bandwidth" : "dma_engines");
  }
  if (engine.chunk && engine.message && engine.chunk->value < engine.message->value) {
    return fail(Code::kMismatch, "{}: engine '{}' has messages of {:.0f} B in chunks of {:.0f} B", platform.name,
                engine.name, engine.message->value, engine.chunk->value);
  }
  if (engine.sram && engine.chunk && engine.sram->value < 2 * engine.chunk->value) {
    return fail(Code::kMismatch, "{}: engine '{}' has {:.0f} B of memory, less than two chunks of {:.0f} B",
                platform.name, engine.name, engine.sram->value, engine.chunk->value);
  }
  HOCKET_TRY(check_budget(platform, platform.endpoint, engine));
  for (const EndpointException& other : platform.exceptions) HOCKET_TRY(check_budget(platform, other.model, engine));
  return {};
}

Result<void> check_exceptions(const Platform& platform) {
  std::set<std::uint32_t> seen;
  for (const EndpointException& other : platform.exceptions) {
    for (const std::uint32_t rank : other.ranks) {
      if (!seen.insert(rank).second)
        return fail(Code::kMalformed, "{}: two exceptions for rank {}", platform.name, rank);
    }
  }
  if (seen.empty()) return {};
  HOCKET_TRY_ASSIGN(const Topology topology, platform.build_topology());
  if (*seen.rbegin() < topology.rank_count()) return {};
  return fail(Code::kMismatch, "{}: an exception for rank {}, there are {}", platform.name, *seen.rbegin(),
              topology.rank_count());
}

}  // namespace

std::string_view name_of(EngineKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"compute-units", "dma", "ace", "ideal"};
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view name_of(Forwarding forwarding) { return forwarding == Forwarding::kNetwork ? "network" : "npus"; }
std::string_view name_of(BudgetSplit split) { return split == BudgetSplit::kShared ? "shared" : "static"; }
std::string_view name_of(MemoryCharge charge) { return charge == MemoryCharge::kTraffic ? "traffic" : "reads"; }
std::string_view name_of(UnitPriority priority) {
  return priority == UnitPriority::kCommunication ? "communication" : "compute";
}
std::string_view name_of(CollectiveOrder order) { return order == CollectiveOrder::kFifo ? "fifo" : "lifo"; }

Result<const CommunicationEngine*> Platform::engine(std::string_view wanted) const {
  std::vector<std::string> names;
  names.reserve(engines.size());
  for (const CommunicationEngine& engine : engines) {
    if (engine.name == wanted) return &engine;
    names.push_back(engine.name);
  }
  return fail(Code::kInvalidArgument, "platform '{}' has no endpoint '{}'{}; it has: {}", name, wanted,
              spelling_hint(wanted, names), fmt::join(names, ", "));
}

const EndpointModel& Platform::endpoint_of(std::uint32_t rank) const {
  for (const EndpointException& other : exceptions) {
    if (std::binary_search(other.ranks.begin(), other.ranks.end(), rank)) return other.model;
  }
  return endpoint;
}

Result<DataType> Platform::usual_type() const {
  for (const DataType type : {DataType::kF16, DataType::kBf16, DataType::kF32, DataType::kF64}) {
    if (endpoint.rates[static_cast<std::size_t>(type)]) return type;
  }
  return fail(Code::kUnsupported, "platform '{}' has no rate for f16, bf16, f32 or f64: give the precision", name);
}

Result<Topology> Platform::build_topology() const {
  TopologyOptions options;
  options.links.reserve(network.links.size());
  const auto rate = [](const PlatformLink& link) { return LinkRate{{link.bandwidth.value}, {link.latency.value}}; };
  for (const PlatformLink& link : network.links) options.links.push_back(rate(link));
  if (network.uplink) options.uplink = rate(*network.uplink);
  HOCKET_TRY_ASSIGN(Topology topology, topology_from_spec(network.topology, options));
  return apply_changes(std::move(topology), {.breaks = network.breaks, .scales = network.scales});
}

Result<void> validate(const Platform& platform) {
  if (platform.network.links.empty()) return fail(Code::kMalformed, "{}: the network has no links", platform.name);
  if (platform.engines.empty()) return fail(Code::kMalformed, "{}: no communication engine", platform.name);
  for (std::size_t i = 0; i < platform.engines.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (platform.engines[i].name != platform.engines[j].name) continue;
      return fail(Code::kMalformed, "{}: two engines are called '{}'", platform.name, platform.engines[i].name);
    }
    HOCKET_TRY(check_engine(platform, platform.engines[i]));
  }
  HOCKET_TRY(check_power(platform));
  return check_exceptions(platform);
}

}  // namespace hocket

// Platform: what a training step runs on: the network, the endpoint at each of its npus (compute units, memory, bus),
// the communication engines it may have, and its power. Every figure carries its source; absent ones stay absent.
// The engines are variants: one platform, several answers to "where does communication run, and what may it take".
// A record of fields (fields.h) names every figure once, for reading, writing, printing and counting.
// Ownership: plain values. Threading: immutable once made. Refuses (validate): lists that lack an engine, budgets above
// what there is, an ace engine without its memory, exceptions for one rank twice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/figure.h"
#include "schedule/collective.h"
#include "topology/topology.h"

namespace hocket {

using MaybeFigure = std::optional<Figure>;

struct PlatformLink {
  Figure bandwidth;  // per direction
  Figure latency;
};

/// Who passes messages on between npus that are not neighbours: the network itself, or the endpoints on the way.
enum class Forwarding : std::uint8_t { kNetwork, kNpus };
[[nodiscard]] std::string_view name_of(Forwarding forwarding);

/// The network in words (topology/spec.h): rates per dimension, and of the outer level; then what differs from them.
struct PlatformNetwork {
  std::string topology;
  std::vector<PlatformLink> links;
  std::optional<PlatformLink> uplink;
  std::vector<std::string> breaks;  // "A-B": no cable between these vertices
  std::vector<std::string> scales;  // "A-B=F": cables between these have F times the bandwidth
  Forwarding forwards = Forwarding::kNetwork;
};

struct EndpointModel {
  MaybeFigure compute_units;
  MaybeFigure unit_bandwidth;  // what one compute unit can read
  MaybeFigure clock;
  std::array<MaybeFigure, kDataTypes> rates;  // of all units together, per data type; dense
  MaybeFigure memory_bandwidth;
  MaybeFigure memory_capacity;
  MaybeFigure remote_bandwidth;  // of memory beyond the npu's own; stated and printed, no task uses it yet
  MaybeFigure remote_latency;
  MaybeFigure bus_bandwidth;  // between memory and network, per direction; absent: no limit
};

/// Npus that are not like the others.
struct EndpointException {
  std::vector<std::uint32_t> ranks;  // ascending
  EndpointModel model;               // what differs, and for the rest what the others have
};

/// Where collectives run.
enum class EngineKind : std::uint8_t { kComputeUnits, kDma, kAce, kIdeal };
inline constexpr std::array kEngineKinds{EngineKind::kComputeUnits, EngineKind::kDma, EngineKind::kAce,
                                         EngineKind::kIdeal};
[[nodiscard]] std::string_view name_of(EngineKind kind);  // "compute-units", "dma", "ace", "ideal"

/// What is left for compute: what communication does not use at the moment, or all but the budget.
enum class BudgetSplit : std::uint8_t { kShared, kStatic };
[[nodiscard]] std::string_view name_of(BudgetSplit split);

/// Which bytes of communication load the memory: all, or reads only (as published figures count).
enum class MemoryCharge : std::uint8_t { kTraffic, kReads };
[[nodiscard]] std::string_view name_of(MemoryCharge charge);

/// Who gets compute units first where kernels of both kinds want them.
enum class UnitPriority : std::uint8_t { kCommunication, kCompute };
[[nodiscard]] std::string_view name_of(UnitPriority priority);

/// Which of the collectives that wait goes first.
enum class CollectiveOrder : std::uint8_t { kFifo, kLifo };
[[nodiscard]] std::string_view name_of(CollectiveOrder order);

struct CommunicationEngine {
  std::string name;
  EngineKind kind = EngineKind::kIdeal;
  bool overlaps = true;  // false: collectives wait until the compute of the pass has ended
  BudgetSplit split = BudgetSplit::kShared;
  MemoryCharge charge = MemoryCharge::kTraffic;
  UnitPriority first = UnitPriority::kCommunication;
  CollectiveOrder order = CollectiveOrder::kFifo;
  MaybeFigure units;             // the most compute units; absent: all of them
  MaybeFigure memory_bandwidth;  // the most memory bandwidth; absent: all of it
  MaybeFigure chunk;             // bytes of a collective that pass through its phases together
  MaybeFigure message;           // bytes sent at once
  MaybeFigure chunks_in_flight;  // per rank; an ace engine is limited by its memory instead
  MaybeFigure reaction;          // between the arrival of a message and what it allows
  MaybeFigure dma_engines;       // dma: how many
  MaybeFigure dma_bandwidth;     // dma: of one
  MaybeFigure sram;              // ace: the memory of the engine
  MaybeFigure machines;          // ace: programmable state machines, each bound to a phase
  MaybeFigure alus;              // ace
  MaybeFigure alu_bandwidth;     // ace: bytes one of them adds in a second
  MaybeFigure port_buffer;       // bytes that wait at an output port
};

struct PowerModel {
  MaybeFigure idle;
  MaybeFigure limit;
  MaybeFigure per_flop;
  MaybeFigure per_memory_byte;
  MaybeFigure per_link_byte;
};

struct Platform {
  std::string name;
  std::string description;
  PlatformNetwork network;
  EndpointModel endpoint;
  std::vector<EndpointException> exceptions;
  std::vector<CommunicationEngine> engines;  // the first one is taken when none is named
  PowerModel power;

  /// The engine of that name; the error lists the names and suggests the nearest.
  [[nodiscard]] Result<const CommunicationEngine*> engine(std::string_view name) const;
  /// What a rank has.
  [[nodiscard]] const EndpointModel& endpoint_of(std::uint32_t rank) const;
  /// The narrowest floating type that it has a rate for, what compute uses when nobody says.
  [[nodiscard]] Result<DataType> usual_type() const;
  /// The network built from its words.
  [[nodiscard]] Result<Topology> build_topology() const;
};

/// What no reader of fields sees: relations between figures.
[[nodiscard]] Result<void> validate(const Platform& platform);

}  // namespace hocket

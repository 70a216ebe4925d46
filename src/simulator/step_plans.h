// StepPlans: the collectives of a workload cut into chunks, each chunk a proved plan with its costs at the endpoint.
// A collective has equal chunks and perhaps a smaller last one; chunks of one kind and size share one shape. Sizes are
// rounded up so that all pieces are equal. Ownership: owns plans and tables.
// Threading: immutable once made. Refuses: what the chooser and Plan::bind refuse, schedules for other ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "simulator/endpoint_costs.h"
#include "simulator/rank_symmetry.h"
#include "simulator/routes.h"
#include "simulator/step.h"
#include "verify/plan.h"

namespace hocket {

/// Chunks of one kind and size.
struct ChunkShape {
  Plan plan;
  EndpointCosts costs;
  FlatRoutes routes;
  std::optional<RankSymmetry> symmetry;
  std::vector<std::int64_t> held;                     // per phase: bytes in the engine
  std::vector<std::vector<std::uint32_t>> phase_ops;  // per rank and phase: ops
  std::vector<Picos> phase_lone;                      // per phase: its steps one after another on free links
  std::vector<double> phase_rates;                    // per phase: of the links that a rank uses, B/s
  std::int64_t input = 0;                             // bytes a rank reads once, and
  std::int64_t output = 0;                            // writes once
};

/// A collective: `full` chunks of one shape, then one of another.
struct ChunkedCollective {
  const ChunkShape* shape = nullptr;
  std::uint32_t full = 0;
  const ChunkShape* rest = nullptr;

  [[nodiscard]] std::uint32_t chunks() const { return full + (rest != nullptr ? 1U : 0U); }
  [[nodiscard]] const ChunkShape& of(std::uint32_t chunk) const { return chunk < full ? *shape : *rest; }
};

class StepPlans {
 public:
  [[nodiscard]] static Result<StepPlans> make(const Workload& workload, const StepMachine& machine,
                                              const ScheduleChooser& choose);

  [[nodiscard]] const ChunkedCollective& of(NodeId node) const { return collectives_[node]; }
  [[nodiscard]] const std::deque<ChunkShape>& shapes() const { return shapes_; }

 private:
  StepPlans() = default;
  Result<const ChunkShape*> shape(const StepMachine& machine, const BoundCollective& what);
  Result<void> add(const StepMachine& machine, const ScheduleChooser& choose, const WorkCollective& collective);

  std::vector<ChunkedCollective> collectives_;  // per node; empty for compute
  std::deque<ChunkShape> shapes_;               // never move
  std::map<CollectiveKind, VerifiedSchedule> schedules_;
};

/// Bytes of a chunk and of a message: the engine's, or what is usual where it says nothing.
[[nodiscard]] Bytes chunk_bytes(const CommunicationEngine& engine);
[[nodiscard]] Bytes message_bytes(const CommunicationEngine& engine);

}  // namespace hocket

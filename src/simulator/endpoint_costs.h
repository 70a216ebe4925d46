// EndpointCosts: what each op of a schedule costs the memory of its rank, for a kind of engine; counted from the
// schedule, never assumed. Also the phases that an engine's state machines are bound to.
//   compute-units  a send reads its source; a recv_reduce reads what arrived and what is there and writes the sum. A
//   send
//                  whose source is exactly what one recv_reduce made is fused with it: the kernel adds and sends at
//                  once.
//   dma            the same without fusion
//   ace            a rank's input is read once, its output written once; all else stays in the engine
//   ideal          nothing
// Ownership: keeps a pointer to the schedule. Threading: immutable. Refuses: nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/platform.h"
#include "schedule/schedule.h"
#include "topology/topology.h"
#include "verify/plan.h"

namespace hocket {

/// Accesses per byte of the op.
struct OpCost {
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;
  std::uint8_t adds = 0;  // sums made by the op itself
  bool operator==(const OpCost&) const = default;
};

class EndpointCosts {
 public:
  EndpointCosts(const Schedule& schedule, const Topology& topology, EngineKind kind);

  [[nodiscard]] OpCost cost(OpId id) const { return costs_[id]; }
  /// Runs of steps whose messages travel along one dimension of the topology; one phase where there is no such thing,
  /// and for an all-to-all, whose messages go through the dimensions each at its own time.
  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  [[nodiscard]] std::uint32_t phase_of(OpId id) const { return phase_of_step_[schedule_->op(id).step]; }

 private:
  void charge_kernels(bool fuse);
  void fuse_rank(OpId begin, OpId end);
  void find_phases(const Topology& topology);

  const Schedule* schedule_;
  std::vector<OpCost> costs_;
  std::vector<std::uint32_t> phase_of_step_;
  std::uint32_t phases_ = 1;
};

/// Bytes of one rank for a whole plan.
struct EndpointTraffic {
  std::int64_t sent = 0;
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::int64_t added = 0;
  bool operator==(const EndpointTraffic&) const = default;
};

[[nodiscard]] EndpointTraffic endpoint_traffic(const Plan& plan, const Topology& topology, EngineKind kind,
                                               std::uint32_t rank);

/// Distinct bytes that the ops of a rank in a phase touch: what an engine must hold of a chunk meanwhile.
[[nodiscard]] std::int64_t touched_bytes(const Plan& plan, const EndpointCosts& costs, std::uint32_t rank,
                                         std::uint32_t phase);
/// Distinct bytes of a rank's buffer that its ops read (input) or write (output).
[[nodiscard]] std::int64_t buffer_bytes(const Plan& plan, std::uint32_t rank, Buffer buffer);

}  // namespace hocket

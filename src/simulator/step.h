// simulate_step(): how long training steps of a workload take on a platform with one of its communication engines.
// Compute runs in order on every rank's units; collectives run chunk by chunk through the proved schedules that the
// caller chooses, over the message model's links; both share what the endpoint has (shared_pool.h). What a collective
// takes from memory, bus, units and engine follows from its schedule and the kind of engine (endpoint_costs.h).
// Where all ranks provably do the same, one stands for all. Ownership: the result owns all it holds.
// Threading: pure function. Refuses: workloads that do not validate, data types the platform has no rate for, schedules
// for other ranks, what does not fit an engine; work that can never end is an error that names what waits (exit 1).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/platform.h"
#include "topology/topology.h"
#include "verify/verify.h"
#include "workload/workload.h"

namespace hocket {

/// The schedule of a collective on the platform's network.
using ScheduleChooser = std::function<Result<VerifiedSchedule>(const Collective&)>;

enum class PartitionRule : std::uint8_t {
  kPublished,  // bandwidth of the phase times the bytes of a chunk in it
  kDemand,     // state machines of the phase times the bytes of a chunk in it
};

struct StepOptions {
  std::uint32_t steps = 1;
  bool fold = true;  // one rank for all where they provably do the same
  PartitionRule partitions = PartitionRule::kDemand;
  double power_cap_W = 0;  // mean power that an npu may take; 0: no cap (power_cap.h)
  bool timeline = false;
  std::size_t timeline_max = 200000;
};

/// What one rank did from begin to end.
struct StepInterval {
  std::string name;
  bool compute = true;
  Picos begin;
  Picos end;
};

struct StepResult {
  Picos time;
  Picos compute_alone;                       // of all compute of a rank, when nothing disturbs it
  Picos compute_busy;                        // as it was
  Picos exposed;                             // no compute ran
  Picos communication;                       // some collective was issued and had not ended
  std::map<std::string, Picos> exposed_for;  // by the collective that was waited for
  double network_bytes = 0;                  // over all links of all ranks
  double sent_bytes = 0;                     // per rank, like those below
  double memory_bytes_read = 0;              // by collectives
  double memory_bytes_written = 0;
  double compute_memory_bytes = 0;
  double all_memory_bytes = 0;      // of kernels, collectives and messages, over all ranks
  double all_flops = 0;             // over all ranks
  double frequency = 1;             // of the clock of compute units, that a cap left
  bool has_stated_compute = false;  // some kernels have a time instead of operations
  double padded_bytes = 0;          // added to collectives so that their pieces are equal
  WorkMemory memory;                // what the workload says it holds; zeros: not known
  std::uint32_t ranks = 0;
  std::uint32_t simulated = 0;  // ranks simulated; 1 when folded
  std::uint64_t chunks = 0;
  std::uint64_t events = 0;
  std::uint64_t event_sum = 0;  // of a hash of each event's time, kind and bytes, over all ranks simulated
  double wall_s = 0;
  std::map<std::string, std::string> algorithms;  // "all_gather in 'tp'" -> "ring"
  std::vector<StepInterval> timeline;

  /// Share of communication during which compute ran.
  [[nodiscard]] double hidden_fraction() const {
    if (communication.count == 0) return 1;
    const double exposed_share = static_cast<double>(exposed.count) / static_cast<double>(communication.count);
    return exposed_share < 1 ? 1 - exposed_share : 0;
  }
  [[nodiscard]] double compute_slowdown() const {
    return compute_alone.count > 0 ? static_cast<double>(compute_busy.count) / static_cast<double>(compute_alone.count)
                                   : 1;
  }
};

/// What a step runs on. `topology` is the platform's, or another one with as many ranks as the schedules.
struct StepMachine {
  const Platform& platform;
  const Topology& topology;
  const CommunicationEngine& engine;
};

[[nodiscard]] Result<StepResult> simulate_step(const Workload& workload, const StepMachine& machine,
                                               const ScheduleChooser& choose, const StepOptions& options = {});

}  // namespace hocket

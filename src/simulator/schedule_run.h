// ScheduleRun: the part of a simulation that every network model shares: the frontier over all ranks, starting what it
// allows in the order it was touched, and ending local ops at once. A model says how a segment travels (launch()) and
// calls sent() and arrived(). Ownership: borrows plan and topology. Threading: one owner.
// Refuses: nothing; leftovers() names an op that never ended.
#pragma once

#include <vector>

#include "schedule/frontier.h"
#include "simulator/simulator.h"

namespace hocket {

class ScheduleRun {
 public:
  ScheduleRun(const ScheduleRun&) = delete;
  ScheduleRun& operator=(const ScheduleRun&) = delete;

 protected:
  ScheduleRun(const Plan& plan, const Topology& topology, const SimulateOptions& options);
  virtual ~ScheduleRun() = default;

  /// Segments [first, first + count) of a send leave now.
  virtual void launch(OpId id, std::uint32_t first, std::uint32_t count) = 0;

  /// Touches every op once and starts what needs nothing.
  void begin();
  /// Starts whatever the ops touched since allow.
  void drain();
  void sent(OpId id, Picos now);
  void arrived(OpId send, Picos now);
  [[nodiscard]] std::int64_t segment_bytes(OpId id, std::uint32_t segment) const;
  void use_link(const LinkInterval& interval, std::int64_t bytes);
  /// Fills time and link figures, or fails when an op never ended.
  [[nodiscard]] Result<SimulationResult> finish_result(std::uint64_t events);

  const Plan& plan_;
  const Schedule& schedule_;
  const Topology& topology_;
  const SimulateOptions& options_;
  SimulationResult result_;

 private:
  void end_segments(OpId id, std::uint32_t segments);

  Frontier<std::uint32_t> frontier_;
  std::vector<OpId> touched_;
  Picos now_;
};

/// The fluid model; see fluid.cpp.
[[nodiscard]] Result<SimulationResult> simulate_fluid(const Plan& plan, const Topology& topology,
                                                      const SimulateOptions& options);

}  // namespace hocket

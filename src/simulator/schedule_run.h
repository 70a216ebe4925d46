// ScheduleRun: the part of a simulation that every network model shares: the frontiers over all ranks of all jobs,
// starting what they allow in the order it was touched, local work, the clock's end. Ops of several jobs are numbered
// one job after the other. A model says how a segment travels (launch()), calls sent(), arrived() and worked() when
// that happens, and moves now_. Ownership: borrows plans and topologies. Threading: one owner. Refuses: times beyond
// the clock; finish_result() names the ops that never ended.
#pragma once

#include <span>
#include <vector>

#include "schedule/frontier.h"
#include "simulator/clock_end.h"
#include "simulator/routes.h"
#include "simulator/simulator.h"

namespace hocket {

class ScheduleRun {
 public:
  ScheduleRun(const ScheduleRun&) = delete;
  ScheduleRun& operator=(const ScheduleRun&) = delete;

 protected:
  /// Jobs share the links of the first one's topology; `routes` are theirs, in their order.
  ScheduleRun(std::span<const SimulatedJob> jobs, const SimulateOptions& options, std::vector<FlatRoutes> routes);
  virtual ~ScheduleRun() = default;

  /// Segments [first, first + count) of a send leave now.
  virtual void launch(OpId id, std::uint32_t first, std::uint32_t count) = 0;
  /// A segment of a local op or a receive ends at `end`; calls worked() then.
  virtual void work(OpId id, Picos end) = 0;

  /// Touches every op once and starts what needs nothing.
  void begin();
  /// Starts whatever the ops touched since allow.
  void drain();
  void sent(OpId id) { end_segments(id, 1); }
  void arrived(OpId send);
  void worked(OpId id) { end_segments(id, 1); }

  [[nodiscard]] OpId op_count() const {
    return jobs_.back().first + static_cast<OpId>(jobs_.back().schedule->ops().size());
  }
  [[nodiscard]] std::span<const LinkId> route_of(OpId send) const {
    const Job& job = job_of(send);
    return job.routes.of(send - job.first);
  }
  [[nodiscard]] const Plan& plan_of(std::size_t job) const { return *jobs_[job].plan; }
  [[nodiscard]] const FlatRoutes& routes_of(std::size_t job) const { return jobs_[job].routes; }
  [[nodiscard]] std::int64_t segment_bytes(OpId id, std::uint32_t segment) const;
  /// Books bytes and time of a link, and a bar of the timeline.
  void use_link(const LinkInterval& interval, std::int64_t bytes, Picos busy);
  /// False, and the run is to stop, when `time` is beyond the clock. Every step before the next check is short enough
  /// (kStepMax) not to overflow.
  [[nodiscard]] bool on_clock(Picos time);
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Refuses sends that hold one link longer than kStepMax.
  [[nodiscard]] Result<void> check_steps() const;
  /// Fills the figures, or fails when the clock ended or an op never did.
  [[nodiscard]] Result<JointResult> finish_result(std::uint64_t events);

  const Topology& topology_;
  const SimulateOptions& options_;
  std::vector<Picos> latency_;         // per link, never rounded below the true one
  std::vector<BytesPerSecond> rates_;  // per link, with SimulateOptions::link_factors
  Picos overhead_;
  Picos now_;

 private:
  struct Job {
    const Plan* plan;
    const Schedule* schedule;
    const Topology* topology;
    OpId first;
    FlatRoutes routes;
    Frontier<std::uint32_t> frontier;
  };
  [[nodiscard]] std::size_t index_of(OpId id) const {
    std::size_t job = jobs_.size() - 1;
    while (jobs_[job].first > id) --job;
    return job;
  }
  [[nodiscard]] const Job& job_of(OpId id) const { return jobs_[index_of(id)]; }
  [[nodiscard]] Job& job_of(OpId id) { return jobs_[index_of(id)]; }

  void tell_progress();
  void start_ready(OpId id);
  void end_segments(OpId id, std::uint32_t segments);
  void start_local(OpId id, std::uint32_t first, std::uint32_t count);
  [[nodiscard]] BytesPerSecond local_rate(const Op& op) const;
  [[nodiscard]] Result<void> check_steps_of(const Job& job) const;
  [[nodiscard]] Error stands_still(const Job& job) const;

  JointResult result_;
  std::vector<Job> jobs_;
  std::vector<OpId> touched_;
  std::vector<Picos> unit_free_;  // per vertex: when its local work is done
  std::uint64_t drains_ = 0;
  bool stopped_ = false;
};

/// The message and packet models; see queues.cpp.
[[nodiscard]] Result<JointResult> simulate_queues(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                                  std::vector<FlatRoutes> routes);
/// The fluid model; see fluid.cpp.
[[nodiscard]] Result<JointResult> simulate_fluid(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                                 std::vector<FlatRoutes> routes);

/// The TCP model; see tcp.cpp.
[[nodiscard]] Result<JointResult> simulate_tcp(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                               std::vector<FlatRoutes> routes);

}  // namespace hocket

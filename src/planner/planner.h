// Planner: from a topology and a collective to proved, simulated, ranked candidates and a choice.
// Every algorithm of the table (or the one named) that supports the request is planned, proved, bound, simulated with
// several segment sizes and kept with its best one; what does not fit is listed with the reason.
// Ownership: results own their plans. Threading: pure functions.
// Refuses: unknown names, requests validate() refuses; never returns a plan that is not proved.
#pragma once

#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "bounds/bounds.h"
#include "planner/scores.h"
#include "simulator/simulator.h"
#include "verify/plan.h"

namespace hocket {

struct PlanningOptions {
  std::string algorithm = "auto";  // "auto" and "all": every algorithm; otherwise a name or names with commas between
  Bytes segment{0};                // 0: the best of several
  bool spread = false;             // messages without ways of their own are spread over the shortest, where it pays
  SimulateOptions simulate;        // its progress is told of every step of planning too
  const Scores* scores = nullptr;  // the user's say; not asked where one algorithm is named
};

struct Candidate {
  std::string algorithm;
  Plan plan;
  SimulationResult simulated;
  double synthesis_s = 0;  // CPU seconds of planning alone
  double proof_s = 0;
};

struct Skipped {
  std::string algorithm;
  std::string reason;
};

struct Planning {
  Bound bound;
  std::vector<Candidate> candidates;  // in the order of the table
  std::vector<Skipped> skipped;
  std::size_t chosen = 0;  // index into candidates
  std::string reason;      // why that one, one sentence
  std::string wish;        // where a score file asks for it, "scores.yaml:3:5"; empty: chosen by time
};

[[nodiscard]] Result<Planning> plan_collective(const Topology& topology, const BoundCollective& what,
                                               const PlanningOptions& options);

/// The schedule changed so that it runs on `topology`, which is what is left of `before` (algorithms/packing/repair.h):
/// one candidate. Ranks are known again by the names of their vertices; `what` is for those that are left.
[[nodiscard]] Result<Planning> repair_plan(const Schedule& old, const Topology& before, const Topology& topology,
                                           const BoundCollective& what, const PlanningOptions& options);

/// Simulates a proved schedule with several segment sizes (or the one of the options) and keeps the best.
[[nodiscard]] Result<Candidate> simulate_best(const VerifiedSchedule& verified, const Topology& topology,
                                              const BoundCollective& what, const PlanningOptions& options);

/// The algorithms that PlanningOptions::algorithm names, in the order of the table; an error names the unknown word.
[[nodiscard]] Result<std::vector<const Algorithm*>> algorithms_named(std::string_view words);

/// What plan_collective() would refuse of an algorithm's name and request before it plans anything: nobody named
/// supports it.
[[nodiscard]] Result<void> check_algorithms(std::string_view words, const PlanRequest& request);

/// Plans and proves one algorithm, without simulating it. One rank gives the plain copy.
[[nodiscard]] Result<VerifiedSchedule> plan_algorithm(const Algorithm& algorithm, const PlanRequest& request);

/// Time of a simulation in seconds, and the field's two bandwidths.
[[nodiscard]] double algbw_Bps(const BoundCollective& what, Picos time);
[[nodiscard]] double busbw_Bps(const BoundCollective& what, Picos time);

}  // namespace hocket

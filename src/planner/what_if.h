// What would change a choice: for the cables that matter most (the busiest of the chosen plan and of the runner-up),
// the rate at which another candidate becomes the fastest. Found by simulating the same plans with that cable slower
// and faster, up to kFactorMost times, and halving the gap until it is within 5 %; nothing is planned anew. Ownership:
// plain values. Threading: pure functions. Refuses: what simulate() refuses. More simulated events than kEventsMost are
// not spent: the result says so.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.h"

namespace hocket {

inline constexpr double kFactorMost = 64;
inline constexpr double kEventsMost = 2e7;

/// Both directions between two vertices, parallel links included.
struct CableChange {
  LinkId link = 0;        // one of the cable's
  double factor = 1;      // on its rate; 1: no factor from 1/64 to 64 changes the choice
  std::string algorithm;  // fastest there
};

struct WhatIf {
  std::vector<CableChange> changes;  // cable by cable, slower before faster
  std::string left_out;              // why not everything was looked at; empty: it was
};

/// `planning` has the candidates of `topology`; with scores they are weighed as in the choice.
[[nodiscard]] Result<WhatIf> what_if_rates(const Topology& topology, const BoundCollective& what,
                                           const Planning& planning, const PlanningOptions& options);

}  // namespace hocket

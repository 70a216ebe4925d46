// simulate_graph(): how long the task graphs of all ranks take on a platform with one of its communication engines: the
// model of simulate_step() (step.h) where ranks may do different things, collectives run in groups, on the group's own
// part of the network, and ranks send each other messages. A send ends when its last byte has left; a receive when it
// was reached and all has arrived: who sends never waits for the receiver. Groups share links with whoever uses them.
// Ownership: the result owns all it holds. Threading: pure function. Refuses: what validate() and GraphPlans refuse,
// data types without a rate, more tasks than fit; where nothing can move the error names who waits (exit status 1).
#pragma once

#include <map>
#include <string>

#include "simulator/graph_plans.h"

namespace hocket {

struct GraphResult {
  StepResult step;             // of the rank that ends last
  Picos host;                  // time in which work of the host ran on that rank
  std::uint64_t messages = 0;  // from peer to peer, of all ranks
  std::vector<Picos> ended;    // per rank that was simulated
};

[[nodiscard]] Result<GraphResult> simulate_graph(const TaskGraph& graph, const StepMachine& machine,
                                                 const GroupChooser& choose, const StepOptions& options = {});

}  // namespace hocket

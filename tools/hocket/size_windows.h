// hocket plan --sizes FROM:TO : a table (and document) of which algorithm to use at which size.
// Ownership: borrows topology and options for the call.
// Threading: pure function, prints to stdout. Refuses: what plan_windows() refuses.
#pragma once

#include <string>

#include "planner/windows.h"

namespace hocket {

struct WindowRequest {
  std::string sizes;   // "1KiB:1GiB"
  std::string output;  // a .json file for the document, or .csv for NCCL's tuner plug-in; empty: none
  bool json = false;   // the document on stdout instead of the table
};

/// Returns the exit status.
[[nodiscard]] Result<int> show_windows(const Topology& topology, const BoundCollective& what,
                                       const WindowRequest& request, const PlanningOptions& options);

}  // namespace hocket

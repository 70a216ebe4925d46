// hocket sim A --platform P --group RANKS --with B --with-group RANKS: workloads that start at once on one platform,
// each on ranks of its own, or one workload on some of the ranks: how long a step of each takes beside the others and
// alone. Ownership: borrows the request for the call. Threading: prints to stdout, one owner. Refuses: groups that are
// not there or share ranks, what load_work() and simulate_graph() do, flags that have no meaning for several workloads.
#pragma once

#include <string>
#include <vector>

#include "graph_view.h"

namespace hocket {

struct WorkloadsRequest {
  const GraphFlags& first;
  const StepFlags& step;                           // model flags are those of the first
  const std::string& group;                        // its ranks
  const std::vector<std::string>&others, &groups;  // the k-th group belongs to the k-th other workload
  const std::string& csv;
  bool json = false;
};

/// Returns the exit status.
[[nodiscard]] Result<int> simulate_workloads(const WorkloadsRequest& request);

}  // namespace hocket

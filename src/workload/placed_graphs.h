// Several workloads on one network at once: each task graph on ranks of its own, joined into one graph of all ranks.
// Groups of the k-th workload are called "k/NAME"; ranks that no workload has do nothing.
// Ownership: returns a value. Threading: pure function. Refuses: ranks that two workloads have, that there are not,
// that are not ascending, and other numbers of them than the workload has: with both values.
#pragma once

#include <span>
#include <vector>

#include "workload/task_graph.h"

namespace hocket {

struct PlacedGraph {
  const TaskGraph& graph;
  std::vector<std::uint32_t> ranks;  // where its ranks 0, 1, ... run
};

[[nodiscard]] Result<TaskGraph> join_graphs(std::span<const PlacedGraph> jobs, std::uint32_t ranks);

}  // namespace hocket

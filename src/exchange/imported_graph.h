// ImportedGraph: a task graph read from a foreign file, with what was read, what was kept and what was lost on the way;
// and the ranks that such a file is laid out on.
// Ownership: owns all it holds. Threading: plain values. Refuses: nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exchange/loss.h"
#include "workload/task_graph.h"

namespace hocket {

/// The ranks that a file's groups are laid out on; extents as Topology::extents().
struct RankLayout {
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> extents;
};

struct ImportedGraph {
  TaskGraph graph;
  std::vector<std::string> counts;  // "rows: 8 read, 8 kept"
  LossReport losses;
};

}  // namespace hocket

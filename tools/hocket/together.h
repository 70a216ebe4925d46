// hocket sim A --with B: several schedules that start at once on one network, each on its own ranks and with its own
// size: how much slower each gets than alone, which links carry what of whom, and the least time their loads allow.
// Ownership: borrows the request for the call. Threading: prints to stdout, one owner.
// Refuses: schedules that are wrong or do not fit their ranks.
#pragma once

#include <string>
#include <vector>

#include "flags.h"

namespace hocket {

struct TogetherRequest {
  std::string file;                                // of the first job, whose size and group are those of the flags
  std::vector<std::string> others, sizes, groups;  // the k-th size and group belong to the k-th other job
  TopologyFlags topology;
  CollectiveFlags amount;
  SimulationFlags simulation;
  bool json = false;
};

/// Returns the exit status.
[[nodiscard]] Result<int> simulate_jobs(const TogetherRequest& request);

}  // namespace hocket

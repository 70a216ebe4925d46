// Runs plans on a topology made of network namespaces (lab/network.h): one process per rank in a namespace of its own,
// one connection per cable or way, the data checked, the time beside the simulator's and the bytes of every link beside
// the schedule's.
// Ownership: nothing outlives the call or the process. Threading: one owner.
// Refuses: plans of another topology, launchers, whatever the lab cannot build.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "flags.h"
#include "rank_job.h"

namespace hocket {

struct LabFlags {
  TopologyFlags topology;
  std::uint32_t repeat = 3;
  double loss = 0;  // share of the frames of every link

  /// `--lab` and what goes with it only.
  void declare(CLI::App& app);
  [[nodiscard]] bool given() const { return !topology.topology.empty(); }
};

struct LabRequest {
  LabFlags lab;
  std::vector<std::string> files;  // of plans
  CollectiveFlags amount;
  SimulationFlags simulation;
  JobFlags job;
  std::uint64_t seed = 1;
  bool json = false;
};

[[nodiscard]] Result<int> run_in_lab(const LabRequest& request);

}  // namespace hocket

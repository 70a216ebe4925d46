// What `hocket sim WORKLOAD --platform P` does: a training step on a platform with each of the endpoints asked for,
// side by side, as text, JSON and a timeline. Ownership: none. Threading: prints to stdout, one owner. Refuses: what
// load_platform(), workload_from_model() and simulate_step() do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "exchange/load_platform.h"
#include "flags.h"
#include "parallel_flags.h"
#include "simulator/step.h"

namespace hocket {

struct StepFlags {
  PlatformFiles platform;
  std::vector<std::string> endpoints;
  std::vector<std::string> algorithms;
  std::uint32_t steps = 1;
  std::uint32_t batch = 0;
  std::uint32_t sequence = 0;
  std::string precision;
  std::string split;
  std::string bucket;
  std::string optimizer;
  bool unfolded = false;
  std::string power_cap;
  ParallelFlags parallel;
  const TopologyFlags* topology = nullptr;  // of the verb; null: it has none

  void declare(CLI::App& app);
  [[nodiscard]] bool given() const { return !platform.platform.empty(); }
  /// The platform; what its import ignored or assumed is counted on stderr.
  [[nodiscard]] Result<Platform> load() const;
  /// The network of --topo in place of the platform's, whose name then says so; --break and --scale hold for either.
  [[nodiscard]] Result<Topology> network(Platform& on) const;
};

/// --system and --remote-memory: the files beside an ASTRA-sim network.
void declare_platform_parts(CLI::App& app, PlatformFiles& files);

/// The platform's engines that --endpoint names (all of them, or its first), their budgets split as --split says.
[[nodiscard]] Result<std::vector<CommunicationEngine>> engines_of(const Platform& platform, const StepFlags& flags);

/// What the flags ask of a built-in model.
[[nodiscard]] Result<ModelRequest> request_of(const Platform& platform, const StepFlags& flags);
/// Watts of --power-cap; 0: none.
[[nodiscard]] Result<double> power_cap_of(const StepFlags& flags);
/// What an endpoint's collectives ran by.
struct EndpointAlgorithms {
  std::string endpoint;
  const std::map<std::string, std::string>* algorithms = nullptr;
};
/// "all_reduce in 'dp' by ring", a line each; with the endpoint where they differ.
[[nodiscard]] std::string algorithm_lines(const std::vector<EndpointAlgorithms>& rows);

/// "capped at 300 W with units: clock 0.81, 298.9 W a npu", where a cap was asked for; a line each, or nothing.
[[nodiscard]] std::string cap_line(const std::string& endpoint, const StepResult& result, const Platform& platform,
                                   const StepFlags& flags);

/// Where a step is written besides stdout; empty: nowhere.
struct StepFiles {
  std::string timeline;
  std::string csv;
};

/// 1 when the workload does not fit the platform's memory, otherwise 0.
[[nodiscard]] Result<int> simulate_workload(const std::string& workload, const StepFlags& flags, const StepFiles& files,
                                            bool json);

}  // namespace hocket

// The set-up of MultiTree's evaluation (ISCA 2021, section V): links of 16 GB/s and 150 ns, packets of 256 B with head
// flits of 16 B, one or four network interfaces a node; ring, double binary tree, 2D-ring, HDRM and MultiTree. Sums are
// added at 128 GB/s a node: the difference between the two columns of the regenerated table is 32 words of 4 B a cycle.
// Ownership: MultitreeBench owns networks and plans it has made. Threading: one owner.
// Refuses: schemes that a network cannot run, with the algorithm's reason.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "simulator/simulator.h"
#include "verify/verify.h"

namespace hocket {

struct MultitreeScheme {
  std::string_view name;
  std::string_view algorithm;
  InterfaceOptions interfaces;
  bool pipelined = false;  // the best of several segment sizes; otherwise whole messages
};

/// The schemes of the evaluation: "ring", "dbtree", "2d-ring", "hdrm", "multitree-packet", "multitree-message" (in lock
/// step) and "multitree-ready" (the same trees, message-based, a send leaves when its data are there).
[[nodiscard]] const MultitreeScheme& multitree_scheme(std::string_view name);

class MultitreeBench {
 public:
  /// `add_time`: false leaves additions out, as the paper's metric does.
  [[nodiscard]] Result<Picos> time(const std::string& network, std::string_view scheme, Bytes size,
                                   bool add_time = true);
  [[nodiscard]] Result<SimulationResult> simulated(const std::string& network, const MultitreeScheme& scheme,
                                                   Bytes size, const SimulateOptions& options);
  [[nodiscard]] Result<const Topology*> network(const std::string& spec);
  [[nodiscard]] Result<const VerifiedSchedule*> schedule(const std::string& network, std::string_view algorithm);
  [[nodiscard]] static SimulateOptions options(const MultitreeScheme& scheme);

  std::function<void(std::string_view)> progress;

 private:
  std::map<std::string, Topology> networks_;
  std::map<std::pair<std::string, std::string>, VerifiedSchedule> schedules_;
};

}  // namespace hocket

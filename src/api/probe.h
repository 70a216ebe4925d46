// probe(): how fast the ranks of a communicator reach each other, measured over the transports that calls take: every
// ordered pair alone, then all pairs of two hosts at once. topology_of() makes of that what planner and simulator need.
//   latency    half a round trip of 4 bytes, with what a call costs: the alpha of a message
//   bandwidth  of the bytes between kFewBytes and kManyBytes, one way, acknowledged: what starting costs is not in it
// Ownership: values. Threading: collective; every rank calls it at the same point. Refuses: a failed communicator.
#pragma once

#include <string>
#include <vector>

#include "hocket/communicator.h"
#include "topology/topology.h"

namespace hocket {

struct ProbeFigures {
  std::vector<std::string> hosts;     // by rank
  std::vector<double> latency_s;      // by from x ranks + to; 0 to oneself
  std::vector<double> bandwidth_Bps;  // the same
  struct Between {
    std::string from, to;  // hosts
    double bandwidth_Bps;  // of as many pairs at once as the smaller host has ranks
  };
  std::vector<Between> between;

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(hosts.size()); }
};

struct ProbeAmounts {
  static constexpr std::int64_t kFewBytes = std::int64_t{256} << 10;
  std::int64_t many_bytes = std::int64_t{8} << 20;
  std::uint32_t round_trips = 100;
  std::uint32_t repeats = 5;  // of which the median counts
};

[[nodiscard]] Result<ProbeFigures> probe(Communicator& ranks, const std::string& host, const ProbeAmounts& amounts);

/// Ranks of one host are joined pair by pair; each host has a nic, all nics a network between them. Three digits.
[[nodiscard]] Result<Topology> topology_of(const ProbeFigures& figures);

}  // namespace hocket

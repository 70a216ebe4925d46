// The least time a collective can take on a network: the larger of a latency part and a bandwidth part, each proved.
// Model: directed links with rates and latencies; a schedule fixed in advance sends parts of the collective's own data
// (partial results, or linear combinations for sums) from rank to rank; switches and idle npus only forward. Reduction,
// memory and start-up cost nothing. Not covered: compression, sparsity, reduction inside switches, non-linear joint
// coding. Latency: a rank whose input another's result needs is at least the least path latency away. Bandwidth:
// all-gather, reduce-scatter, broadcast, reduce by the exact cut; all-reduce by graph strength on direct networks, by
// link lengths elsewhere, and by the smallest directed cut; all-to-all by cuts and distances.
// Threading: pure functions. Refuses: nothing; one rank, no bytes or ranks other than the network's give 0 and say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "schedule/collective.h"
#include "topology/topology.h"

namespace hocket {

struct Bound {
  Seconds time;       // the larger of the two parts
  std::string rule;   // what decides: "latency", "cut", "partition", "link lengths", "distances", "none"
  std::string limit;  // the certificate: "cut {0 1 4 5}: 8 links, 128 GB/s"
  Seconds latency;
  Seconds bandwidth;
  std::string bandwidth_rule;
  std::string bandwidth_limit;
  std::vector<std::vector<std::uint32_t>>
      parts;  // ranks of the cut or partition behind the bandwidth part, if there is one
};

[[nodiscard]] Bound lower_bound(const Topology& topology, const BoundCollective& what);

}  // namespace hocket

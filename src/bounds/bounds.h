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

/// A length that a bound by link lengths gives to the links between two vertices, both ways.
struct PairLength {
  VertexId a = 0;
  VertexId b = 0;
  double length = 0;
};

struct Bound {
  Seconds time;       // the larger of the two parts
  std::string rule;   // what decides: "latency", "cut", "partition", "link lengths", "distances", "none"
  std::string limit;  // the certificate: "cut {0 1 4 5}: 8 links, 128 GB/s"
  Seconds latency;
  Seconds bandwidth;
  std::string bandwidth_rule;
  std::string bandwidth_limit;
  std::vector<std::vector<std::uint32_t>>
      parts;                           // ranks of the cut or partition behind the bandwidth part, if there is one
  std::vector<std::uint32_t> part_of;  // the same for every vertex; of a cut: 0 where data start
  bool exact = true;                   // false: a large network was searched in part; a larger bound may hold
  std::vector<PairLength> lengths;     // when link lengths or distances are behind it; those above 0
};

[[nodiscard]] Bound lower_bound(const Topology& topology, const BoundCollective& what);

/// What separate reduce-scatter and all-gather phases with equal shards need at least. Not a bound on all-reduce.
struct SeparatePhases {
  Seconds time;
  std::string limit;  // the cuts of both phases
};
[[nodiscard]] SeparatePhases separate_phases(const Topology& topology, const BoundCollective& what);

}  // namespace hocket

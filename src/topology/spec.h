// A topology from words: "torus:4x4" with link rates, and the changes asked for on the command line (--break, --scale,
// --group, GPU links only). The same changes apply to topologies read from files.
// The default link is 16GB/s,150ns each way (MultiTree's set-up); a note on the topology says when it was taken.
// Ownership: plain values. Threading: pure functions.
// Refuses: unknown families (naming the nearest), names that do not exist, changes that cut ranks off (naming the
// islands).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/family.h"

namespace hocket {

inline constexpr LinkRate kDefaultLink{BytesPerSecond{16e9}, Seconds{150e-9}};
inline constexpr std::size_t kSpecLengthMax = 4096;

struct TopologyOptions {
  std::vector<LinkRate> links;      // --link, one per dimension or level; the last one repeats
  std::optional<LinkRate> uplink;   // --uplink, outer level; the first of `links` when absent
  std::vector<std::string> breaks;  // --break A-B: remove every cable between two vertices, both directions
  std::vector<std::string> scales;  // --scale A-B=F: multiply their bandwidth, both directions
  std::string group;                // --group 0,1,4-7: npus that take part, in this order; vertex names or rank numbers
  bool direct_only = false;         // keep npus and GPU switches only: no hosts, no nics
};

/// "16GB/s,150ns"; a bare "16GB/s" takes the default latency.
[[nodiscard]] Result<LinkRate> parse_link_rate(std::string_view text);

/// Builds a family's network; does not apply the changes.
[[nodiscard]] Result<Topology> topology_from_spec(std::string_view spec, const TopologyOptions& options);

/// Applies direct_only, breaks, scales and group, in this order. Every change becomes a note and part of the name.
[[nodiscard]] Result<Topology> apply_changes(Topology topology, const TopologyOptions& options);

/// Every link at `share` of its bandwidth, which is above 0; name and notes stay.
[[nodiscard]] Result<Topology> with_bandwidth_share(const Topology& topology, double share);

}  // namespace hocket

// Size windows: which algorithm to use from which size to which, on one topology, by simulated time.
// Schedules are planned and proved once; then every doubling of the size is simulated, neighbours with the same winner
// are joined, and the border between two winners is looked for by halving the gap until it is within 5 %. Where
// messages may be spread over the links, an algorithm's time is that of the faster ways. Windows have neither holes nor
// overlaps. Ownership: results own their text. Threading: pure function. Refuses: an empty range, requests that no
// algorithm supports.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.h"

namespace hocket {

/// Both ends are part of the window. Times and shares of the bound are those simulated nearest to the ends.
struct SizeWindow {
  Bytes from;
  Bytes to;
  std::string algorithm;
  Bytes segment_from;
  Bytes segment_to;
  double time_from_s = 0;
  double time_to_s = 0;
  double fraction_from = 0;
  double fraction_to = 0;
};

/// `what.count` is not looked at; sizes are cut down to whole elements and blocks.
[[nodiscard]] Result<std::vector<SizeWindow>> plan_windows(const Topology& topology, const BoundCollective& what,
                                                           Bytes from, Bytes to, const PlanningOptions& options);

/// "1KiB:1GiB" as two sizes, the first at most the second and above zero.
[[nodiscard]] Result<std::pair<Bytes, Bytes>> parse_size_range(std::string_view text);

}  // namespace hocket

// The HTML page of planned collectives: one self-contained file per run, no network, light and dark.
// Per topology: summary in words, table of candidates beside the bound, the network drawn with the load of every link
// under the chosen plan, and timelines of the chosen plan and of the ring with links as rows.
// Ownership: returns text; PageEntry borrows. Threading: pure function.
// Refuses: nothing; timelines show at most a fixed number of bars and say what was left out.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.h"
#include "topology/topology.h"

namespace hocket {

struct PageEntry {
  const Topology& topology;
  BoundCollective what;
  const Planning& planning;
  std::vector<std::string> runs;  // lines about real executions, already in words; may be empty
};

[[nodiscard]] Result<std::string> make_page(const std::vector<PageEntry>& entries);

/// SVG of a network with the busy share of every link under a simulation as width and colour.
[[nodiscard]] std::string draw_topology(const Topology& topology, const SimulationResult& result);
/// SVG of link intervals, one row per used link (at most 64 rows).
[[nodiscard]] std::string draw_timeline(const Topology& topology, const SimulationResult& result);

/// Text with &, <, > and quotes made safe for HTML.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace hocket

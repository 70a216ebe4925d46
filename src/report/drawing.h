// The drawing of a network as SVG: vertices by kind, links bent to one side so that both directions show, each link
// coloured by the share of the time it is held under one plan. Every link and vertex has its figures as a title, which
// browsers show on hovering; the page's script adds keys and exact readings.
// Ownership: returns text. Threading: pure function. Refuses: nothing; above kDrawnLinksMax links it says so instead.
#pragma once

#include <string>

#include "simulator/simulator.h"

namespace hocket {

inline constexpr std::size_t kDrawnLinksMax = 6000;

[[nodiscard]] std::string draw_network(const Topology& topology, const SimulationResult& result);

/// 0 for a link that carries nothing, 1 to 5 for fifths of the time that it is held.
[[nodiscard]] int load_class(const SimulationResult& result, LinkId link);

/// "0 → 1: 4.2 MB, held 98 % of 0.26 ms; 16 GB/s, 150 ns", as HTML.
[[nodiscard]] std::string link_in_words(const Topology& topology, const SimulationResult& result, LinkId link);

}  // namespace hocket

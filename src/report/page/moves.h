// What the page's script draws, as one JSON document per topology: vertices, links, and per plan the load of every
// link, the shares with the transfers that move them, and the timeline.
//   sends   six numbers per transfer: from rank, to rank, step, 1 when it is added up on arrival, bytes, route
//   shares  pieces of the vector that move together, each with its transfers in order of step
//   bars    per row (a link) four numbers per bar: gap to the end of the bar before, length, transfer, number of
//   further
//           transfers in it; times in unit_ps
// Ownership: returns a document. Threading: pure function. Refuses: what simulate() refuses. Cut at kSharesMax shares
// and kShareSendsMax transfers per plan; rows.h says how timelines are cut.
#pragma once

#include <nlohmann/json.hpp>

#include "report/page.h"

namespace hocket {

inline constexpr std::size_t kSharesMax = 64;
inline constexpr std::size_t kShareSendsMax = 20000;
inline constexpr std::size_t kSegmentsMax = 2000000;

[[nodiscard]] Result<nlohmann::ordered_json> describe_moves(const PageEntry& entry);

}  // namespace hocket

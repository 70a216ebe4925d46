// Forest: spanning trees for a list of roots, grown together over the links of a topology in time order.
// Time is in ticks; moving one share over a link occupies the link for a number of ticks in proportion to its slowness.
// On a network of equal links that is MultiTree's stepped form. Deterministic. Threading: pure functions.
// Refuses: a list of roots of which some cannot reach every rank.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/parts/trees.h"
#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

struct Forest {
  Trees trees;
  std::int64_t finish = 0;  // ticks until the last share has arrived
};

inline constexpr std::int64_t kTicksFastest = 64;  // ticks of one share on the fastest link

/// Trees i is rooted at roots[i]. With `reversed` every link is used against its direction, and the paths come out in
/// the direction of the links: from child to parent, as a reduction travels. `vary`: tries other orders too, keeps the
/// best.
[[nodiscard]] Result<Forest> grow_forest(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed,
                                         bool vary = true);

/// The link of the other direction for every link; empty when some link has no twin of equal rate.
[[nodiscard]] std::vector<LinkId> twin_links(const Topology& topology);

/// The same trees over the links of the other direction; empty when some link has no twin of equal rate.
[[nodiscard]] Trees twin_trees(const Topology& topology, const Trees& trees);

}  // namespace hocket

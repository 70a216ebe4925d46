// group_network(): the part of a network in which a group of its ranks runs collectives. Switches, hosts and interfaces
// stay; of the npus only the members do, as long as no shortest way between members becomes longer without the others;
// otherwise the whole graph stays, with the members as its ranks. Members that fill some dimensions of a grid keep
// those as extents. So groups in the same place of a regular network get equal networks and can share a schedule.
// Ownership: a GroupNetwork owns its topology. Threading: the router's owner. Refuses: groups that fall into islands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/route.h"
#include "topology/topology.h"

namespace hocket {

struct GroupNetwork {
  Topology topology;          // its rank i is member i
  std::vector<LinkId> links;  // of `topology`, by their numbers in the whole network
};

/// `members`: ranks of `whole`, ascending; `router` is the whole network's.
[[nodiscard]] Result<GroupNetwork> group_network(const Topology& whole, std::span<const std::uint32_t> members,
                                                 Router& router);

/// Every rank has one link to one switch and one link from it, all alike: what a rank sends and receives then meets
/// nobody else's traffic but at its own two links.
[[nodiscard]] bool is_star(const Topology& topology);

}  // namespace hocket

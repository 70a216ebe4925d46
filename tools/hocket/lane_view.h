// Which way each connection between two ranks goes: what a network must be told so that lane k of a pair (see
// schedule/lanes.h) really takes the links that the plan means. Ownership: values. Threading: pure function.
// Refuses: routes that do not fit the topology.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/ways.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

namespace hocket {

/// By sender, then receiver, then lane.
[[nodiscard]] Result<std::vector<LaneWay>> lane_ways(const Schedule& schedule, const Topology& topology);

/// `[{from, to, lane, links[]}]`, the same; ids of links as in the topology's document.
[[nodiscard]] Result<nlohmann::ordered_json> lanes_document(const Schedule& schedule, const Topology& topology);

}  // namespace hocket

#include "lane_view.h"

#include <map>
#include <span>
#include <utility>

#include "schedule/lanes.h"
#include "simulator/routes.h"

namespace hocket {

Result<std::vector<LaneWay>> lane_ways(const Schedule& schedule, const Topology& topology) {
  HOCKET_TRY_ASSIGN(const FlatRoutes routes, FlatRoutes::resolve(schedule, topology));
  std::vector<LaneWay> out;
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    const std::vector<MessageLane> lanes = message_lanes(schedule, rank);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::span<const LinkId>> ways;
    for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
      const Op& op = schedule.op(id);
      if (op.sends()) ways.try_emplace({op.peer, lanes[id - schedule.first_op(rank)].lane}, routes.of(id));
    }
    for (const auto& [to, links] : ways) {
      out.push_back({.from = rank, .to = to.first, .lane = to.second, .links = {links.begin(), links.end()}});
    }
  }
  return out;
}

Result<nlohmann::ordered_json> lanes_document(const Schedule& schedule, const Topology& topology) {
  HOCKET_TRY_ASSIGN(const std::vector<LaneWay> ways, lane_ways(schedule, topology));
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const LaneWay& way : ways)
    out.push_back({{"from", way.from}, {"to", way.to}, {"lane", way.lane}, {"links", way.links}});
  return out;
}

}  // namespace hocket

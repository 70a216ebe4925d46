#include "lane_view.h"

#include <map>
#include <span>
#include <utility>

#include "schedule/lanes.h"
#include "simulator/routes.h"

namespace hocket {

Result<nlohmann::ordered_json> lanes_document(const Schedule& schedule, const Topology& topology) {
  HOCKET_TRY_ASSIGN(const FlatRoutes routes, FlatRoutes::resolve(schedule, topology));
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    const std::vector<std::uint32_t> lanes = message_lanes(schedule, rank);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::span<const LinkId>> ways;
    for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
      const Op& op = schedule.op(id);
      if (op.sends()) ways.try_emplace({op.peer, lanes[id - schedule.first_op(rank)]}, routes.of(id));
    }
    for (const auto& [to, links] : ways) {
      out.push_back({{"from", rank}, {"to", to.first}, {"lane", to.second}, {"links", links}});
    }
  }
  return out;
}

}  // namespace hocket

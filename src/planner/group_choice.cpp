#include "planner/group_choice.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "planner/endpoint_choice.h"
#include "planner/step_choice.h"

namespace hocket {
namespace {

constexpr std::uint32_t kSearchedRanksMax = 16;
constexpr std::uint32_t kSearchedVerticesMax = 128;

BoundCollective bound(const Collective& collective, Bytes largest) {
  BoundCollective what{collective, std::max<std::int64_t>(1, largest.count / size_of(DataType::kF32)), DataType::kF32,
                       ReduceOp::kSum};
  if (is_blocked(collective.kind))
    what.count = std::max<std::int64_t>(1, what.count / collective.ranks) * collective.ranks;
  return what;
}

}  // namespace

Result<GroupChooser> choose_for_groups(const std::vector<std::string>& names, const Platform& platform,
                                       const CommunicationEngine& engine) {
  HOCKET_TRY_ASSIGN(const std::vector<const Algorithm*> wanted, usual_algorithms(names, platform.network.forwards));
  HOCKET_TRY_ASSIGN(const Algorithm* ring, find_algorithm("ring"));
  HOCKET_TRY_ASSIGN(const Algorithm* direct, find_algorithm("direct"));
  return GroupChooser([wanted, ring, direct, &platform, &engine](const Collective& collective, const Topology& network,
                                                                 Bytes largest) -> Result<VerifiedSchedule> {
    const PlanRequest request{network, collective};
    for (const Algorithm* algorithm : wanted) {
      if (algorithm->supports(request).empty()) return plan_algorithm(*algorithm, request);
    }
    if (collective.ranks > kSearchedRanksMax || network.vertices().size() > kSearchedVerticesMax)
      return plan_algorithm(collective.kind == CollectiveKind::kAllToAll ? *direct : *ring, request);
    const BoundCollective what = bound(collective, largest);
    HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(network, what, {}));
    return fastest_at_endpoints(planning, what, {platform, network, engine});
  });
}

}  // namespace hocket

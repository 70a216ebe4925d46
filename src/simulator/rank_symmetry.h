// RankSymmetry: whether all ranks of a schedule do the same on a network that looks the same from each, so that one
// of them stands for all. Proved op by op: ops of a rank are told apart by kind, channel, step, pieces, link rate and,
// round by round, by what they wait for and what they meet; the ops of every rank must then pair with rank 0's, one to
// one, with the same dependencies, costs and partner and the same sharing of links. Dependencies on an earlier phase do
// not count: a chunk begins a phase when it has ended the one before.
// Ownership: owns its tables. Threading: immutable. Refuses (nothing found): routes of more than one link, ops that
// cannot be told apart, anything that differs. The order of ops also breaks ties, the same on every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/schedule.h"
#include "simulator/endpoint_costs.h"
#include "simulator/routes.h"
#include "topology/topology.h"

namespace hocket {

class RankSymmetry {
 public:
  [[nodiscard]] static std::optional<RankSymmetry> find(const Schedule& schedule, const Topology& topology,
                                                        const FlatRoutes& routes, const EndpointCosts& costs);
  /// The same where every rank is joined to one switch by a link each way (is_star()), over which all it sends and
  /// receives goes. Of two messages that reach a rank's link at one instant the one of the lower op must go first.
  [[nodiscard]] static std::optional<RankSymmetry> find_on_star(const Schedule& schedule, const Topology& topology,
                                                                const FlatRoutes& routes, const EndpointCosts& costs);

  /// The op of rank 0 that stands for `id`.
  [[nodiscard]] OpId stands_for(OpId id) const { return by_order_[order_[id]]; }
  /// Place of an op in its rank's order.
  [[nodiscard]] std::uint32_t order(OpId id) const { return order_[id]; }

 private:
  RankSymmetry() = default;
  [[nodiscard]] static std::optional<RankSymmetry> find_within(std::size_t hops, const Schedule& schedule,
                                                               const Topology& topology, const FlatRoutes& routes,
                                                               const EndpointCosts& costs);
  std::vector<std::uint32_t> order_;  // per op
  std::vector<OpId> by_order_;        // rank 0's ops
};

}  // namespace hocket

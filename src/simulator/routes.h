// FlatRoutes: the links of every send of a plan, resolved once into one array: stated routes are checked against the
// topology and against every send that states them, the others take the Router's shortest path.
// Ownership: owns its links, keeps a pointer to the topology. Threading: immutable.
// Refuses: a route of another topology, one that does not lead from the sender to the receiver, more than 65,535 links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"
#include "simulator/interface_network.h"
#include "topology/route.h"

namespace hocket {

class FlatRoutes {
 public:
  [[nodiscard]] static Result<FlatRoutes> resolve(const Schedule& schedule, const Topology& topology);
  /// The same routes with the links of the interfaces at both ends; refers to the network's topology.
  [[nodiscard]] Result<FlatRoutes> behind(const InterfaceNetwork& network) const;

  [[nodiscard]] std::span<const LinkId> of(OpId send) const { return links(index_[send]); }
  /// The least bandwidth on the way.
  [[nodiscard]] BytesPerSecond slowest(OpId send) const { return slowest_[index_[send]]; }

 private:
  explicit FlatRoutes(const Topology& topology) : topology_(&topology) {}

  [[nodiscard]] std::span<const LinkId> links(std::uint32_t index) const {
    return std::span<const LinkId>(links_).subspan(begin_[index], begin_[index + 1] - begin_[index]);
  }
  Result<std::uint32_t> append(std::span<const LinkId> links);
  /// The index of a stated route, added when it is new; checked to lead from `from` to `to`.
  Result<std::uint32_t> stated(std::span<const LinkId> route, std::uint32_t& known, VertexId from, VertexId to);

  const Topology* topology_;
  std::vector<std::uint32_t> index_;  // per op; sends only
  std::vector<std::uint32_t> begin_{0};
  std::vector<BytesPerSecond> slowest_;  // per route
  std::vector<LinkId> links_;
};

}  // namespace hocket

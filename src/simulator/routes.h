// FlatRoutes: the links of every send of a plan, resolved once into one array: stated routes are checked against the
// topology, the others take the Router's shortest path. Ownership: owns its links. Threading: immutable.
// Refuses: a route of another topology, or one that does not lead from the sender to the receiver.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"
#include "topology/route.h"

namespace hocket {

class FlatRoutes {
 public:
  [[nodiscard]] static Result<FlatRoutes> resolve(const Schedule& schedule, const Topology& topology);

  [[nodiscard]] std::span<const LinkId> of(OpId send) const {
    const std::uint32_t index = index_[send];
    return std::span<const LinkId>(links_).subspan(begin_[index], begin_[index + 1] - begin_[index]);
  }

 private:
  std::uint32_t append(std::span<const LinkId> links);
  std::vector<std::uint32_t> index_;  // per op; sends only
  std::vector<std::uint32_t> begin_{0};
  std::vector<LinkId> links_;
};

}  // namespace hocket

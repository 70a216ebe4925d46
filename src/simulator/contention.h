// find_contention(): whether any two messages of one step use one link, as they must not in lock step.
// Sends of one rank to one peer in one step whose pieces follow one another are one message. Ownership: returns values.
// Threading: pure function. Refuses: routes of another topology.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

namespace hocket {

/// Two messages that share a link in a step.
struct SharedLink {
  std::uint32_t step = 0;
  LinkId link = 0;
  OpId first = kNoOp;
  OpId second = kNoOp;
};

struct Contention {
  std::uint64_t uses = 0;    // links x steps that carry a message
  std::uint64_t shared = 0;  // of these, with two or more
  std::optional<SharedLink> example;
};

[[nodiscard]] Result<Contention> find_contention(const Schedule& schedule, const Topology& topology);

}  // namespace hocket

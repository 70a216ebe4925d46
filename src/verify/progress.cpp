// Second part of a proof: everything runs. First with unbounded queues (an order exists), then the least FIFO depth.
// With depth d, message k of a connection can leave only after message k - d was taken; with depth 0 (rendezvous) only
// when its receive is ready too. Sends and receives of one connection follow their program order.
#include <algorithm>

#include "schedule/order.h"
#include "verify/fifo_order.h"
#include "verify/verifier.h"

namespace hocket {

std::vector<OpId> Verifier::topological_order() {
  const auto count = static_cast<OpId>(schedule_->ops().size());
  std::vector<OpId> order = execution_order(*schedule_);
  if (order.size() < count) {
    std::vector<bool> done(count, false);
    for (const OpId id : order) done[id] = true;
    report_stuck(done);
  }
  return order;
}

void Verifier::report_stuck(const std::vector<bool>& done) {
  const auto waits_for = [&](OpId id) {
    for (const Dependency& d : schedule_->dependencies(id)) {
      if (!done[d.on()]) return d.on();
    }
    return schedule_->match(id);  // a receive whose message has not left
  };
  // Following one unmet wait per op from any stuck op must enter a cycle.
  OpId at = static_cast<OpId>(std::find(done.begin(), done.end(), false) - done.begin());
  std::vector<bool> seen(done.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    at = waits_for(at);
  }
  std::string cycle = schedule_->describe(at);
  const OpId first = at;
  int shown = 0;
  for (at = waits_for(at); at != first && shown < 6; at = waits_for(at), ++shown)
    cycle += "  <-  " + schedule_->describe(at);
  report(FindingKind::kDeadlock, first, fmt::format("waits for itself: {}{}", cycle, at == first ? "" : "  <-  ..."));
}

std::uint32_t Verifier::smallest_depth() {
  const Connections connections(*schedule_);
  const auto safe = [&](std::uint32_t depth) { return fifo_safe(*schedule_, connections, depth); };
  if (safe(0)) return 0;
  std::uint32_t unsafe = 0;
  std::uint32_t depth = 1;
  const std::uint32_t limit = std::max<std::uint32_t>(1, std::min(options_.depth_max, connections.longest()));
  while (!safe(depth)) {
    if (depth == limit) {
      report(FindingKind::kDeadlock, 0,
             fmt::format("messages of one connection are taken in another order than they are sent: no FIFO depth up "
                         "to {} is safe",
                         limit));
      return 0;
    }
    unsafe = depth;
    depth = std::min(depth * 2, limit);
  }
  while (depth - unsafe > 1) {
    const std::uint32_t middle = unsafe + (depth - unsafe) / 2;
    (safe(middle) ? depth : unsafe) = middle;
  }
  return depth;
}

}  // namespace hocket

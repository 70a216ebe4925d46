#include "schedule/order.h"

#include "schedule/frontier.h"

namespace hocket {

std::vector<OpId> execution_order(const Schedule& schedule) {
  const auto count = static_cast<OpId>(schedule.ops().size());
  Frontier<std::uint8_t> frontier(schedule, 0, count);
  std::vector<OpId> order;
  order.reserve(count);
  const auto enter = [&](OpId id) {
    if (frontier.startable(id) == 0) return;
    frontier.start(id);
    order.push_back(id);
  };
  for (OpId id = 0; id < count; ++id) enter(id);
  for (std::size_t next = 0; next < order.size(); ++next) {
    const OpId id = order[next];
    frontier.finish(id, 1, enter);
    if (schedule.op(id).sends()) {
      frontier.arrive(schedule.match(id));
      enter(schedule.match(id));
    }
  }
  return order;
}

}  // namespace hocket

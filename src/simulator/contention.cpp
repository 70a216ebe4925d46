#include "simulator/contention.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "simulator/routes.h"

namespace hocket {
namespace {

struct Use {
  std::uint32_t step = 0;
  LinkId link = 0;
  OpId send = kNoOp;
  auto operator<=>(const Use&) const = default;
};

/// `second` carries on where `first` ends.
bool is_one_message(const Schedule& schedule, OpId first, OpId second) {
  const Op& a = schedule.op(first);
  const Op& b = schedule.op(second);
  return schedule.rank_of(first) == schedule.rank_of(second) && a.peer == b.peer &&
         a.source_piece + a.count == b.source_piece;
}

}  // namespace

Result<Contention> find_contention(const Schedule& schedule, const Topology& topology) {
  HOCKET_TRY_ASSIGN(const FlatRoutes routes, FlatRoutes::resolve(schedule, topology));
  std::vector<Use> uses;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    if (!schedule.op(id).sends()) continue;
    std::transform(routes.of(id).begin(), routes.of(id).end(), std::back_inserter(uses), [&](LinkId link) {
      return Use{schedule.op(id).step, link, id};
    });
  }
  std::sort(uses.begin(), uses.end());
  Contention found;
  std::size_t last_shared = uses.size();  // where the last link and step with two messages begins
  for (std::size_t i = 0, begin = 0; i < uses.size(); ++i) {
    if (i == 0 || std::pair(uses[i].step, uses[i].link) != std::pair(uses[i - 1].step, uses[i - 1].link)) {
      begin = i;
      ++found.uses;
      continue;
    }
    if (begin == last_shared || is_one_message(schedule, uses[i - 1].send, uses[i].send)) continue;
    last_shared = begin;
    ++found.shared;
    if (!found.example) found.example = SharedLink{uses[i].step, uses[i].link, uses[i - 1].send, uses[i].send};
  }
  return found;
}

}  // namespace hocket

// Direct: every rank sends every other rank its block itself (the direct algorithm of ASTRA-SIM's analysis, Rashidi et
// al., ISPASS 2020, section III; the linear algorithm of Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4). In
// step s rank r serves rank r + 1 + s, so that no two ranks send to one at the same time. All-reduce of three ranks:
//     step 0: 0 -b1-> 1   1 -b2-> 2   2 -b0-> 0        step 2: 0 -b0-> 1   1 -b1-> 2   2 -b2-> 0
//     step 1: 0 -b2-> 2   1 -b0-> 0   2 -b1-> 1        step 3: 0 -b0-> 2   1 -b1-> 0   2 -b2-> 1
#include "algorithms/algorithm.h"
#include "algorithms/parts/trees.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest&) { return {}; }

/// Every root is the parent of all others.
Trees stars(const Collective& collective) {
  const std::uint32_t n = collective.ranks;
  Trees trees;
  for (std::uint32_t root = 0; root < n; ++root) {
    if (is_rooted(collective.kind) && root != collective.root) continue;
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      trees.add(is_rooted(collective.kind) ? 0 : root, root, (root + 1 + s) % n, s);
    }
  }
  return trees;
}

Result<Schedule> plan_all_to_all(const Collective& collective) {
  const std::uint32_t n = collective.ranks;
  ScheduleBuilder builder(collective, Division{.blocks = n, .pieces_per_block = 1, .weights = {}}, "direct");
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    builder.copy(rank, {Buffer::kInput, rank, 1}, {Buffer::kOutput, rank, 1});
    for (std::uint32_t s = 1; s < n; ++s) {
      const std::uint32_t to = (rank + s) % n;
      const std::uint32_t from = (rank + n - s) % n;
      builder.send(rank, to, {Buffer::kInput, to, 1}, {.step = s - 1});
      builder.recv(rank, from, {Buffer::kOutput, from, 1}, {.step = s - 1});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> plan(const PlanRequest& request) {
  if (request.collective.kind == CollectiveKind::kAllToAll) return plan_all_to_all(request.collective);
  const Trees trees = stars(request.collective);
  return schedule_trees(request.collective, {.up = trees, .down = trees, .channels = 1}, "direct");
}

}  // namespace

extern const Algorithm algorithm_direct{
    .name = "direct",
    .description = "every rank sends every other rank its block itself",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

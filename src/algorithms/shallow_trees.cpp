// Shallow trees: as low as trees can be, for messages whose time is latency. A few trees from the ranks in the middle
// of the network, every other rank reached over a path of least latency; the vector goes up and down once, so an
// all-reduce takes the way from the farthest rank to the middle and back, on any network: no power of two is needed, no
// grid. On a line of five, 2 being the middle:
//     0 -> 1 -> 2 <- 3 <- 4   then back: four hops one after another, where a ring takes eight
// Trees from several middles, or several trees from the root of a broadcast, take different links where paths tie.
#include <numeric>

#include "algorithms/algorithm.h"
#include "algorithms/parts/shortest_trees.h"

namespace hocket {
namespace {

constexpr std::uint32_t kTreesMax = 8;

std::string supports(const PlanRequest& request) { return refuse_all_to_all(request.collective); }

std::vector<std::uint32_t> roots_of(const PlanRequest& request) {
  const Collective& collective = request.collective;
  if (is_rooted(collective.kind)) return std::vector<std::uint32_t>(kTreesMax, collective.root);
  if (collective.kind == CollectiveKind::kAllReduce) return central_ranks(request.topology, kTreesMax);
  std::vector<std::uint32_t> roots(collective.ranks);
  std::iota(roots.begin(), roots.end(), 0U);
  return roots;
}

Result<Schedule> plan(const PlanRequest& request) {
  const std::vector<std::uint32_t> roots = roots_of(request);
  const CollectiveKind kind = request.collective.kind;
  Trees up, down;
  if (reduces(kind)) {
    HOCKET_TRY_ASSIGN(up, shortest_trees(request.topology, roots, true));
  }
  if (!reduces(kind) || kind == CollectiveKind::kAllReduce) {
    HOCKET_TRY_ASSIGN(down, shortest_trees(request.topology, roots, false));
  }
  const TreePlan trees{
      .up = up, .down = down.count > 0 ? down : up, .pieces_per_tree = 1, .topology = &request.topology};
  return schedule_trees(request.collective, trees, "shallow_trees");
}

}  // namespace

extern const Algorithm algorithm_shallow_trees{
    .name = "shallow_trees",
    .description = "trees of least latency from the middle of the network, for small messages",
    .source = "shortest-path trees, Dijkstra 1959",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

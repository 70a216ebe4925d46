// Packed trees: several spanning trees at once that load all links evenly, each with an equal share, in a pipeline.
// All-reduce on a network without switches reduces every share up to its tree's centre and broadcasts it down the same
// tree. A cable of a tree carries the share once in each direction, so trees that share the cables evenly take D over
// the strength of the graph (Tutte 1961, Nash-Williams 1961), which no all-reduce over direct links of equal directions
// beats (docs/bounds.md). Four ranks in a square, every cable in three of the four trees:
//     0 - 1      A: 0-1 1-3 3-2      B: 1-3 3-2 2-0      C: 3-2 2-0 0-1      D: 2-0 0-1 1-3
//     2 - 3
// Other collectives and networks take trees rooted at the ranks (Edmonds 1973: as many as the smallest cut allows), for
// all-reduce one set up to the roots and the same set down again.
#include <numeric>

#include "algorithms/algorithm.h"
#include "algorithms/packing/cables.h"
#include "algorithms/packing/rooted_packing.h"
#include "algorithms/packing/shifted_trees.h"
#include "algorithms/parts/forest.h"

namespace hocket {
namespace {

constexpr double kEvenEnough = 1.005;

double time_of(const SpanningPacking& packing) { return packing.load / static_cast<double>(packing.trees.size()); }

std::string supports(const PlanRequest& request) { return refuse_all_to_all(request.collective); }

/// Direct links whose directions are equal, or at least join all ranks both ways.
bool has_cables(const Topology& topology) {
  return topology.rank_count() == topology.vertices().size() && topology.symmetric() && cables_connect(topology);
}

/// By symmetry where there is some, unless that leaves the cables less even than a search does.
SpanningPacking pack_cables(const Topology& topology, const Cables& cables) {
  const auto translations = Translations::of(topology);
  if (!translations) return pack_spanning_trees(cables.graph);
  auto shifted = pack_shifted_cables(*translations, cables);
  if (shifted && shifted->unevenness <= kEvenEnough) return std::move(shifted->packing);
  SpanningPacking searched = pack_spanning_trees(cables.graph);
  const bool keep = shifted && time_of(shifted->packing) <= time_of(searched) * kEvenEnough;
  return keep ? std::move(shifted->packing) : searched;
}

Result<Schedule> plan_cables(const PlanRequest& request) {
  const Cables cables = pair_links(request.topology);
  const SpanningPacking packing = pack_cables(request.topology, cables);
  const Trees down = trees_of(packing, cables, false);
  const Trees up = trees_of(packing, cables, true);
  return schedule_trees(request.collective, {.up = up, .down = down, .topology = &request.topology}, "packed_trees");
}

Result<Schedule> plan_rooted(const PlanRequest& request) {
  const Collective& collective = request.collective;
  std::vector<std::uint32_t> roots(is_rooted(collective.kind) ? 1 : collective.ranks, collective.root);
  if (!is_rooted(collective.kind)) std::iota(roots.begin(), roots.end(), 0U);
  const bool gathers = !reduces(collective.kind);
  if (gathers || collective.kind == CollectiveKind::kAllReduce) {
    HOCKET_TRY_ASSIGN(const RootedPacking down, pack_rooted_trees(request.topology, roots, false));
    Trees up;
    if (!gathers) up = twin_trees(request.topology, down.trees);
    if (gathers || up.count > 0) {
      return schedule_trees(collective, {.up = up, .down = down.trees, .topology = &request.topology}, "packed_trees");
    }
    HOCKET_TRY_ASSIGN(const RootedPacking back, pack_rooted_trees(request.topology, roots, true, down.trees_per_root));
    return schedule_trees(collective, {.up = back.trees, .down = down.trees, .topology = &request.topology},
                          "packed_trees");
  }
  HOCKET_TRY_ASSIGN(const RootedPacking up, pack_rooted_trees(request.topology, roots, true));
  return schedule_trees(collective, {.up = up.trees, .down = up.trees, .topology = &request.topology}, "packed_trees");
}

Result<Schedule> plan(const PlanRequest& request) {
  const bool cables = request.collective.kind == CollectiveKind::kAllReduce && has_cables(request.topology);
  return cables ? plan_cables(request) : plan_rooted(request);
}

}  // namespace

extern const Algorithm algorithm_packed_trees{
    .name = "packed_trees",
    .description = "spanning trees that load all links evenly, each with a share, in a pipeline",
    .source = "Nash-Williams 1961, Edmonds 1973; docs/bounds.md",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

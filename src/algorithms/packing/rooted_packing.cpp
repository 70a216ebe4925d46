#include "algorithms/packing/rooted_packing.h"

#include <algorithm>
#include <array>

#include "algorithms/packing/rehanger.h"
#include "algorithms/packing/shifted_trees.h"
#include "algorithms/parts/forest.h"

namespace hocket {
namespace {

/// Numbers of trees per root to try; the work of all roots together is bounded.
constexpr std::array kPerRoot{1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U};
constexpr std::uint64_t kEdgesMax = 100'000;
constexpr std::uint64_t kEdgesMaxSwitched = 20'000;  // searches through switches cost more

/// No trees take less: what must enter each rank over the links that enter it, and leave a root over those that leave.
double least_time(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed) {
  double least = 0;
  std::vector<double> in(topology.vertices().size(), 0), out(topology.vertices().size(), 0);
  for (const Link& link : topology.links()) {
    out[reversed ? link.to : link.from] += link.bandwidth.value;
    in[reversed ? link.from : link.to] += link.bandwidth.value;
  }
  for (std::uint32_t rank = 0; rank < topology.rank_count(); ++rank) {
    const bool is_root = std::find(roots.begin(), roots.end(), rank) != roots.end();
    const VertexId at = topology.vertex_of(rank);
    least = std::max(least, static_cast<double>(roots.size() - (is_root ? 1 : 0)) / in[at]);
    if (is_root) least = std::max(least, 1 / out[at]);
  }
  return least;
}

/// More trees must gain at least this, because more of them meet on every link.
constexpr double kWorthMore = 0.99;

double cost(const RootedPacking& packing) {
  constexpr double kSegments = 600;
  return packing.time_per_byte * (1 + packing.trees.steps / kSegments);
}

Result<RootedPacking> pack(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed,
                           std::uint32_t per_root) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t root : roots) all.insert(all.end(), per_root, root);
  HOCKET_TRY_ASSIGN(const Forest forest, grow_forest(topology, all, reversed, false));
  Rehanger rehanger(topology, forest.trees, all, reversed ? Rehanger::Travel::kUp : Rehanger::Travel::kDown);
  rehanger.even_out(least_time(topology, roots, reversed) * per_root);
  return RootedPacking{rehanger.take_trees(), per_root, rehanger.most_loaded() / per_root};
}

}  // namespace

Result<RootedPacking> pack_rooted_trees(const Topology& topology, std::span<const std::uint32_t> roots, bool reversed,
                                        std::uint32_t per_root) {
  if (roots.size() == topology.rank_count() && std::is_sorted(roots.begin(), roots.end())) {
    const auto translations = Translations::of(topology);
    auto shifted = translations ? pack_shifted_roots(*translations, reversed, per_root) : std::nullopt;
    if (shifted) return *std::move(shifted);
  }
  if (per_root > 0) return pack(topology, roots, reversed, per_root);
  const double least = least_time(topology, roots, reversed);
  const std::uint64_t edges_max = topology.has_switches() ? kEdgesMaxSwitched : kEdgesMax;
  RootedPacking best;
  for (const std::uint32_t number : kPerRoot) {
    if (number > 1 && std::uint64_t{number} * roots.size() * topology.rank_count() > edges_max) break;
    HOCKET_TRY_ASSIGN(RootedPacking next, pack(topology, roots, reversed, number));
    if (best.trees.count == 0 || cost(next) < cost(best) * kWorthMore) best = std::move(next);
    if (best.time_per_byte <= least * 1.01) break;
  }
  return best;
}

}  // namespace hocket

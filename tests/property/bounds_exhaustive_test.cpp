// The fast searches against every cut and every partition of small random networks.
#include <gtest/gtest.h>

#include "bounds/bounds.h"
#include "bounds/cuts.h"
#include "bounds/strength.h"
#include "support/small_graphs.h"

namespace hocket {
namespace {

constexpr std::int64_t kElements = 60'000'000;
constexpr double kBytes = kElements;

double bandwidth(const Topology& t, CollectiveKind kind, std::uint32_t root = 0) {
  return lower_bound(t, {.collective = {kind, t.rank_count(), root}, .count = kElements, .type = DataType::kI8})
      .bandwidth.value;
}

double exact_gather(const Topology& t, bool reversed) {
  double worst = 0;
  const std::uint32_t all = (1U << t.vertices().size()) - 1;
  for_every_side(t, [&](std::uint32_t side) {
    if (ranks_in(t, side) == t.rank_count() || ranks_in(t, side) == 0) return;
    worst = std::max(worst, ranks_in(t, side) / leaving(t, reversed ? all & ~side : side));
  });
  return worst * kBytes / t.rank_count();
}

double exact_rooted(const Topology& t, std::uint32_t root, bool reversed) {
  double least = 1e300;
  const std::uint32_t all = (1U << t.vertices().size()) - 1;
  for_every_side(t, [&](std::uint32_t side) {
    if (!(side >> t.vertex_of(root) & 1) || ranks_in(t, side) == t.rank_count()) return;
    least = std::min(least, leaving(t, reversed ? all & ~side : side));
  });
  return kBytes / least;
}

/// Parts that all hold a rank; and the smallest directed cut.
double exact_all_reduce(const Topology& t) {
  double worst = 0;
  for_every_partition(t.vertices().size(), [&](const std::vector<std::uint32_t>& part, std::uint32_t parts) {
    std::vector<bool> has_rank(parts, false);
    for (const VertexId v : t.ranks()) has_rank[part[v]] = true;
    double capacity = 0;
    for (const Link& l : t.links()) capacity += part[l.from] != part[l.to] ? l.bandwidth.value : 0;
    const bool valid = std::find(has_rank.begin(), has_rank.end(), false) == has_rank.end();
    if (parts > 1 && valid) worst = std::max(worst, 2.0 * (parts - 1) / capacity);
  });
  for_every_side(t, [&](std::uint32_t side) {
    if (ranks_in(t, side) > 0 && ranks_in(t, side) < t.rank_count()) worst = std::max(worst, 1 / leaving(t, side));
  });
  return worst * kBytes;
}

double exact_all_to_all_cut(const Topology& t) {
  double worst = 0;
  for_every_side(t, [&](std::uint32_t side) {
    const double pairs = static_cast<double>(ranks_in(t, side)) * (t.rank_count() - ranks_in(t, side));
    worst = std::max(worst, pairs / leaving(t, side));
  });
  return worst * kBytes / t.rank_count();
}

TEST(BoundsExhaustive, CutsAndPartitionsOfRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const std::uint32_t npus = 2 + static_cast<std::uint32_t>(random.below(5));
    const std::uint32_t switches = random.chance(0.5) ? 0 : static_cast<std::uint32_t>(random.below(7 - npus));
    const Topology t = random_small_graph(npus, switches, random.chance(0.6), seed);
    const std::uint32_t root = static_cast<std::uint32_t>(random.below(npus));
    SCOPED_TRACE(fmt::format("seed {}: {} npus, {} switches", seed, npus, switches));
    const double tolerance = 1e-7;
    EXPECT_NEAR(bandwidth(t, CollectiveKind::kAllGather) / exact_gather(t, false), 1, tolerance);
    EXPECT_NEAR(bandwidth(t, CollectiveKind::kReduceScatter) / exact_gather(t, true), 1, tolerance);
    EXPECT_NEAR(bandwidth(t, CollectiveKind::kBroadcast, root) / exact_rooted(t, root, false), 1, tolerance);
    EXPECT_NEAR(bandwidth(t, CollectiveKind::kReduce, root) / exact_rooted(t, root, true), 1, tolerance);
    const double all_reduce = bandwidth(t, CollectiveKind::kAllReduce);
    if (switches == 0) {
      EXPECT_NEAR(all_reduce / exact_all_reduce(t), 1, tolerance);
    } else {
      EXPECT_GE(all_reduce, exact_all_reduce(t) * 0.97);  // lengths are searched, not solved
    }
    // Reduce-scatter then all-gather is reachable, so no valid bound lies above it.
    EXPECT_LE(all_reduce, (exact_gather(t, false) + exact_gather(t, true)) * (1 + tolerance));
    if (t.symmetric()) {
      EXPECT_GE(bandwidth(t, CollectiveKind::kAllToAll), exact_all_to_all_cut(t) * 0.95);
    }
  }
}

}  // namespace
}  // namespace hocket

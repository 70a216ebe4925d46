// What planned schedules reach of the lower bound in the simulator, as floors: packed trees against the strength of the
// graph, all-gather against the cut bound, small vectors against each
// other.
#include <gtest/gtest.h>

#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

struct Case {
  const char* spec;
  double fraction;
  const char* broken = "";  // --break
  const char* links = "50GB/s,500ns";
  const char* second = "";  // of dimension 1
};

Topology build(const Case& c) {
  TopologyOptions options;
  options.links = {*parse_link_rate(c.links)};
  if (*c.second != 0) options.links.push_back(*parse_link_rate(c.second));
  if (*c.broken != 0) options.breaks = {c.broken};
  auto topology = topology_from_spec(c.spec, options);
  EXPECT_TRUE(topology) << c.spec;
  auto changed = apply_changes(std::move(*topology), options);
  EXPECT_TRUE(changed) << c.spec;
  return std::move(*changed);
}

Planning plan(const Topology& topology, CollectiveKind kind, const char* algorithm, std::int64_t bytes) {
  const std::uint32_t n = topology.rank_count();
  const BoundCollective what{{kind, n, 0}, bytes / 4 / n * n};
  auto planning = plan_collective(topology, what, {.algorithm = algorithm});
  EXPECT_TRUE(planning) << (planning ? "" : planning.error().text);
  return std::move(*planning);
}

double fraction(const Case& c, CollectiveKind kind, const char* algorithm) {
  const Topology topology = build(c);
  const Planning planning = plan(topology, kind, algorithm, std::int64_t{1} << 30);
  return planning.bound.time.value / to_seconds(planning.candidates[planning.chosen].simulated.time).value;
}

TEST(PlannedFractions, PackedAllReduce) {
  for (const Case& c : {Case{"mesh:4x4", 0.97}, Case{"mesh:8x8", 0.97}, Case{"mesh:4x4x4", 0.97}, Case{"dgx1", 0.97},
                        Case{"torus:8x8", 0.97}, Case{"torus:8x8", 0.95, "0-1"},
                        Case{"mesh:8x8", 0.95, "", "100GB/s,500ns", "50GB/s,500ns"}}) {
    EXPECT_GE(fraction(c, CollectiveKind::kAllReduce, "packed_trees"), c.fraction) << c.spec << " " << c.broken;
  }
}

TEST(PlannedFractions, BestAllGather) {
  for (const Case& c :
       {Case{"torus:4x4", 0.98}, Case{"torus:8x8", 0.98}, Case{"torus:4x4x4", 0.98}, Case{"mesh:8x8", 0.98},
        Case{"dgx1", 0.98}, Case{"hypercube:4", 0.98}, Case{"fattree:8x8x4", 0.98}, Case{"bigraph:4x8", 0.98},
        Case{"torus:8x8", 0.98, "", "100GB/s,500ns", "50GB/s,500ns"}}) {
    EXPECT_GE(fraction(c, CollectiveKind::kAllGather, "auto"), c.fraction) << c.spec;
  }
}

TEST(PlannedFractions, AllToAllBeatsShortestPathsOnADamagedTorus) {
  const Case c{"torus:8x8", 0, "0-1"};
  EXPECT_GE(fraction(c, CollectiveKind::kAllToAll, "routed_all_to_all"), 0.9);
  EXPECT_LE(fraction(c, CollectiveKind::kAllToAll, "direct"), 0.7);
}

TEST(PlannedFractions, SmallVectorsTakeTheShortCut) {
  const struct {
    const char* spec;
    const char* algorithm;
  } cases[] = {{"ring:8", "swing"}, {"torus:8x8", "swing"}, {"torus:9x9", "trivance"}};
  for (const auto& c : cases) {
    const Planning planning = plan(build({c.spec, 0}), CollectiveKind::kAllReduce, "auto", 16 << 10);
    EXPECT_EQ(planning.candidates[planning.chosen].algorithm, c.algorithm) << c.spec;
  }
}

TEST(PlannedFractions, HdrmSharesNoCable) {
  // Every step moves one share over one cable per rank: time is the sum of the steps' shares and latencies (two links
  // to and from switches, one across), to the picosecond but for the rounding of shares.
  const Topology topology = build({"bigraph:4x8", 0, "", "16GB/s,150ns"});
  const Planning planning = plan(topology, CollectiveKind::kAllReduce, "hdrm", 32 << 20);
  const double share = 2.0 * 31 / 32 * (32 << 20) / 16e9;
  EXPECT_NEAR(to_seconds(planning.candidates[0].simulated.time).value, share + 10 * 450e-9, share * 0.03);
}

}  // namespace
}  // namespace hocket

#include "bounds/bounds.h"

#include <gtest/gtest.h>

#include <chrono>

#include "bounds/max_flow.h"
#include "support/small_graphs.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::int64_t kElements = 12'000'000'000;  // divisible by every small number of ranks

Bound bound_of(const Topology& t, CollectiveKind kind, std::uint32_t root = 0) {
  return lower_bound(t, {.collective = {kind, t.rank_count(), root}, .count = kElements, .type = DataType::kI8});
}

/// Seconds for one unit of data over links of one unit per second.
double unit(const Topology& t, CollectiveKind kind, std::uint32_t root = 0) {
  return bound_of(t, kind, root).bandwidth.value / (static_cast<double>(kElements) / 1e9);
}

Topology make(std::string_view spec) {
  return *topology_from_spec(spec, {.links = {LinkRate{BytesPerSecond{1e9}, Seconds{1e-6}}}});
}

TEST(MaxFlow, TextbookNetwork) {
  MaxFlow flow(6);
  const double arcs[][3] = {{0, 1, 16}, {0, 2, 13}, {1, 2, 10}, {2, 1, 4},  {1, 3, 12},
                            {3, 2, 9},  {2, 4, 14}, {4, 3, 7},  {3, 5, 20}, {4, 5, 4}};
  for (const auto& arc : arcs)
    flow.add_arc(static_cast<std::uint32_t>(arc[0]), static_cast<std::uint32_t>(arc[1]), arc[2]);
  EXPECT_DOUBLE_EQ(flow.run(0, 5), 23);
  EXPECT_TRUE(flow.on_source_side(0) && flow.on_source_side(1) && flow.on_source_side(2) && flow.on_source_side(4));
  EXPECT_FALSE(flow.on_source_side(3) || flow.on_source_side(5));
  flow.set_capacity(8, 1);
  EXPECT_DOUBLE_EQ(flow.run(0, 5), 5);
  EXPECT_GE(flow.run(0, 5, 2), 2);
}

struct Known {
  std::string_view name;
  Topology topology;
  double all_reduce;
};

TEST(Bounds, AllReduceOnSmallGraphs) {
  const auto direct = [](std::uint32_t n, const std::vector<SmallEdge>& edges) { return small_graph(n, 0, edges); };
  const Known known[] = {
      {"path 3", direct(3, {{0, 1}, {1, 2}}), 1},
      {"triangle", direct(3, {{0, 1}, {1, 2}, {0, 2}}), 2.0 / 3},
      {"triangle 3,1,1", direct(3, {{0, 1, 3, 3}, {1, 2}, {0, 2}}), 1.0 / 2},
      {"4-cycle", direct(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), 3.0 / 4},
      {"star 1+3", direct(4, {{0, 1}, {0, 2}, {0, 3}}), 1},
      {"K4", make("full:4"), 1.0 / 2},
      {"K4 minus a link", direct(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}), 3.0 / 5},
      {"mesh 2x3", make("mesh:2x3"), 5.0 / 7},
      {"mesh 2x4", make("mesh:2x4"), 7.0 / 10},
      {"mesh 3x3", make("mesh:3x3"), 2.0 / 3},
      {"cube", make("hypercube:3"), 7.0 / 12},
      {"torus 3x3", make("torus:3x3"), 4.0 / 9},
      {"mesh 8x8", make("mesh:8x8"), 9.0 / 16},
      {"switch of 4", make("switch:4"), 3.0 / 2},
      {"switch of 6", make("switch:6"), 5.0 / 3},
      {"switch, rates 1,1,1,3", small_graph(4, 1, {{0, 4}, {1, 4}, {2, 4}, {3, 4, 3, 3}}), 1},
      {"two nodes, rates 2 and 1", direct(2, {{0, 1, 2, 1}}), 1},
  };
  for (const Known& k : known) {
    EXPECT_NEAR(unit(k.topology, CollectiveKind::kAllReduce), k.all_reduce, k.all_reduce * 0.01) << k.name;
    EXPECT_LE(unit(k.topology, CollectiveKind::kAllReduce), k.all_reduce * (1 + 1e-9)) << k.name;
    if (!k.topology.has_switches()) {
      EXPECT_NEAR(unit(k.topology, CollectiveKind::kAllReduce), k.all_reduce, 1e-8) << k.name;
    }
  }
}

TEST(Bounds, SwitchOnAThinLinkDoesNotCount) {
  const Topology t = small_graph(3, 1, {{0, 1}, {1, 2}, {0, 2}, {0, 3, 0.01, 0.01}});
  EXPECT_NEAR(unit(t, CollectiveKind::kAllReduce), 2.0 / 3, 0.01);
}

TEST(Bounds, ClosedForms) {
  EXPECT_NEAR(unit(make("ring:8"), CollectiveKind::kAllGather), 7.0 / 8 / 2, 1e-8);
  EXPECT_NEAR(unit(make("ring:8"), CollectiveKind::kAllReduce), 7.0 / 8, 1e-8);
  EXPECT_NEAR(unit(make("torus:4x4"), CollectiveKind::kAllGather), 15.0 / 16 / 4, 1e-8);
  EXPECT_NEAR(unit(make("torus:4x4"), CollectiveKind::kReduceScatter), 15.0 / 16 / 4, 1e-8);
  EXPECT_NEAR(unit(make("torus:4x4"), CollectiveKind::kAllReduce), 15.0 / 32, 1e-8);
  EXPECT_NEAR(unit(make("mesh:4x4"), CollectiveKind::kAllGather), 15.0 / 16 / 2, 1e-8);
  EXPECT_NEAR(unit(make("fattree:4x4"), CollectiveKind::kAllReduce), 2 * 15.0 / 16, 1e-8);
  EXPECT_NEAR(unit(make("bigraph:4x8"), CollectiveKind::kAllGather), 31.0 / 32, 1e-8);
  EXPECT_NEAR(unit(make("torus:4x4"), CollectiveKind::kBroadcast, 5), 1.0 / 4, 1e-8);
  EXPECT_NEAR(unit(make("mesh:4x4"), CollectiveKind::kReduce, 5), 1.0 / 2, 1e-8);
  EXPECT_NEAR(unit(make("ring:8"), CollectiveKind::kAllToAll), 1.0, 1e-8);
  EXPECT_NEAR(unit(make("switch:8"), CollectiveKind::kAllToAll), 7.0 / 8, 1e-8);
  EXPECT_NEAR(unit(make("full:4"), CollectiveKind::kAllToAll), 1.0 / 4, 1e-8);
}

TEST(Bounds, BoxesAreLimitedByTheUplink) {
  const TopologyOptions options{.links = {LinkRate{BytesPerSecond{100e9}, Seconds{1e-6}}},
                                .uplink = LinkRate{BytesPerSecond{1e9}, Seconds{1e-6}}};
  const Topology t = *topology_from_spec("boxes:4x8", options);
  EXPECT_NEAR(unit(t, CollectiveKind::kAllReduce), 2 * 3.0 / 4 / 8, 1e-6);
  EXPECT_NEAR(unit(t, CollectiveKind::kAllGather), 3.0 / 4 / 8, 1e-6);
  EXPECT_NEAR(unit(t, CollectiveKind::kAllToAll), 24.0 / 32, 1e-6);
}

TEST(Bounds, UnequalDimensionsGiveRows) {
  const TopologyOptions options{
      .links = {LinkRate{BytesPerSecond{100e9}, Seconds{1e-6}}, LinkRate{BytesPerSecond{1e9}, Seconds{1e-6}}}};
  const Bound b = bound_of(*topology_from_spec("torus:4x4", options), CollectiveKind::kAllReduce);
  EXPECT_EQ(b.parts.size(), 4U);
  EXPECT_EQ(b.parts[0], (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_NEAR(b.bandwidth.value / 12, 2.0 * 3 / 32, 1e-8);
}

TEST(Bounds, LatencyDecidesSmallSizes) {
  BoundCollective what{.collective = {CollectiveKind::kAllReduce, 16, 0}, .count = 16, .type = DataType::kF32};
  const Bound b = lower_bound(make("torus:4x4"), what);
  EXPECT_EQ(b.rule, "latency");
  EXPECT_NEAR(b.time.value, 4e-6, 1e-12);
  what.collective.kind = CollectiveKind::kBroadcast;
  what.collective.root = 5;
  EXPECT_NEAR(lower_bound(make("mesh:4x4"), what).time.value, 4e-6, 1e-12);
  what.collective.root = 0;
  EXPECT_NEAR(lower_bound(make("mesh:4x4"), what).time.value, 6e-6, 1e-12);
}

TEST(Bounds, NothingToDoIsZero) {
  BoundCollective what{.collective = {CollectiveKind::kAllReduce, 4, 0}, .count = 0};
  EXPECT_EQ(lower_bound(make("ring:4"), what).time.value, 0);
  EXPECT_EQ(lower_bound(make("ring:4"), what).bandwidth_limit, "nothing to send");
  what.count = 4;
  what.collective.ranks = 5;
  EXPECT_EQ(lower_bound(make("ring:4"), what).rule, "none");
  what.collective.ranks = 1;
  EXPECT_EQ(lower_bound(make("ring:1"), what).time.value, 0);
}

TEST(Bounds, SayWhatLimits) {
  const Bound b = bound_of(make("torus:4x4"), CollectiveKind::kAllReduce);
  EXPECT_EQ(b.limit, "partition into 16 single npus: 64 links between them, 64 GB/s both ways");
  EXPECT_EQ(b.parts.size(), 16U);
  const Bound cut = bound_of(make("mesh:2x3"), CollectiveKind::kAllGather);
  EXPECT_EQ(cut.rule, "cut");
  EXPECT_NE(cut.limit.find("2 links, 2 GB/s"), std::string::npos) << cut.limit;
}

TEST(Bounds, SubGroupsCountOnlyTheirRanks) {
  const TopologyOptions options{.links = {LinkRate{BytesPerSecond{1e9}, Seconds{1e-6}}}, .group = "0,2"};
  const Topology t = *apply_changes(*topology_from_spec("ring:4", options), options);
  EXPECT_NEAR(unit(t, CollectiveKind::kAllGather), 1.0 / 4, 1e-8);
  EXPECT_NEAR(unit(t, CollectiveKind::kAllReduce), 1.0 / 2, 1e-3);
}

}  // namespace
}  // namespace hocket

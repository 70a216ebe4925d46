// MultiTree's published step counts (Huang et al., ISCA 2021, and the authors' simulator) as upper limits, and what its
// forests must do where links are unequal. An all-gather of N blocks; the unit is one block on the fastest link.
#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/algorithm.h"
#include "algorithms/parts/forest.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Forest grow(const Topology& topology) {
  std::vector<std::uint32_t> roots(topology.rank_count());
  std::iota(roots.begin(), roots.end(), 0U);
  auto forest = grow_forest(topology, roots, false);
  EXPECT_TRUE(forest) << (forest ? "" : forest.error().text);
  return std::move(*forest);
}

double finish(const Topology& topology) { return static_cast<double>(grow(topology).finish) / kTicksFastest; }

std::uint32_t all_reduce_steps(const Topology& topology) {
  const Collective collective{.kind = CollectiveKind::kAllReduce, .ranks = topology.rank_count()};
  return find_algorithm("multitree").value()->plan({topology, collective})->steps();
}

TEST(MultitreeSteps, UniformNetworks) {
  const struct {
    const char* spec;
    std::uint32_t steps;
  } cases[] = {{"torus:4x4", 5},    {"torus:8x8", 17},    {"mesh:4x4", 8},     {"mesh:8x8", 32},
               {"bigraph:4x8", 31}, {"bigraph:4x16", 63}, {"fattree:4x4", 15}, {"fattree:8x8", 63}};
  for (const auto& c : cases) {
    const auto topology = topology_from_spec(c.spec, {});
    ASSERT_TRUE(topology) << topology.error().text;
    const Forest forest = grow(*topology);
    EXPECT_EQ(forest.trees.steps, c.steps) << c.spec;
    EXPECT_EQ(forest.finish, c.steps * kTicksFastest) << c.spec;
    EXPECT_EQ(all_reduce_steps(*topology), 2 * c.steps) << c.spec;
  }
}

// 300 GB/s inside and 25 outside: every block of another box must come in once, over one link of each npu of the box.
TEST(MultitreeSteps, BoxesUseTheScarceLinksOnce) {
  TopologyOptions options;
  options.links = {*parse_link_rate("300GB/s")};
  options.uplink = parse_link_rate("25GB/s").value();
  for (const std::uint32_t boxes : {2U, 4U, 8U}) {
    const auto topology = topology_from_spec(fmt::format("boxes:{}x8", boxes), options);
    ASSERT_TRUE(topology) << topology.error().text;
    EXPECT_LE(finish(*topology), 2.2 * 12 * (boxes - 1)) << boxes;
  }
}

// A ring of four with a second cable between two neighbours, 1000 times slower: waiting for the fast one is better.
TEST(MultitreeSteps, AvoidsAHopelessParallelLink) {
  TopologyBuilder builder("ring with a slow cable");
  for (int i = 0; i < 4; ++i) builder.add_vertex(fmt::format("{}", i), VertexKind::kNpu);
  for (VertexId v = 0; v < 4; ++v) builder.add_cable(v, (v + 1) % 4, BytesPerSecond{1e11}, Seconds{0});
  builder.add_cable(0, 1, BytesPerSecond{1e8}, Seconds{0});
  const auto topology = std::move(builder).build();
  ASSERT_TRUE(topology) << topology.error().text;
  EXPECT_LE(finish(*topology), 3);
}

// Two triangles joined by one cable, 1000 times slower: it carries three blocks each way and no more.
TEST(MultitreeSteps, CrossesASlowBridgeOncePerTree) {
  TopologyBuilder builder("two triangles");
  for (int i = 0; i < 6; ++i) builder.add_vertex(fmt::format("{}", i), VertexKind::kNpu);
  for (const VertexId first : {0U, 3U}) {
    for (VertexId v = 0; v < 3; ++v)
      builder.add_cable(first + v, first + (v + 1) % 3, BytesPerSecond{1e11}, Seconds{0});
  }
  builder.add_cable(0, 3, BytesPerSecond{1e8}, Seconds{0});
  const auto topology = std::move(builder).build();
  ASSERT_TRUE(topology) << topology.error().text;
  EXPECT_LE(finish(*topology), 3 * 1000 + 2);
}

}  // namespace
}  // namespace hocket

#include <gtest/gtest.h>

#include <set>

#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology make(std::string_view spec, const TopologyOptions& options = {}) {
  auto built = topology_from_spec(spec, options);
  EXPECT_TRUE(built.has_value()) << (built ? "" : built.error().text);
  return *built;
}

std::string error_of(std::string_view spec) {
  const auto built = topology_from_spec(spec, {});
  return built.has_value() ? "" : built.error().text;
}

struct Shape {
  std::string_view spec;
  std::size_t vertices, links;
  std::uint32_t ranks;
  std::vector<std::uint32_t> extents;
};

TEST(Families, ShapesAreAsDescribed) {
  const Shape shapes[] = {{"ring:8", 8, 16, 8, {8}},
                          {"ring:2", 2, 4, 2, {2}},
                          {"line:4", 4, 6, 4, {4}},
                          {"torus:4x4", 16, 64, 16, {4, 4}},
                          {"mesh:4x4", 16, 48, 16, {4, 4}},
                          {"hypercube:3", 8, 24, 8, {2, 2, 2}},
                          {"full:5", 5, 20, 5, {5}},
                          {"switch:8", 9, 16, 8, {8}},
                          {"fattree:4x4", 24, 64, 16, {4, 4}},
                          {"fattree:4x4x2", 22, 48, 16, {4, 4}},
                          {"bigraph:4x8", 36, 96, 32, {8, 4}},
                          {"boxes:2x4", 19, 48, 8, {4, 2}},
                          {"boxes:1x4", 5, 8, 4, {4, 1}},
                          {"boxes:3x1", 7, 12, 3, {1, 3}},
                          {"dgx1", 8, 48, 8, {8}},
                          {"random:16,4,7", 16, 64, 16, {}},
                          {"dragonfly:5x4x2", 60, 160, 40, {2, 4, 5}},
                          {"full:1", 1, 0, 1, {1}}};
  for (const Shape& shape : shapes) {
    const Topology t = make(shape.spec);
    EXPECT_EQ(t.vertices().size(), shape.vertices) << shape.spec;
    EXPECT_EQ(t.links().size(), shape.links) << shape.spec;
    EXPECT_EQ(t.rank_count(), shape.ranks) << shape.spec;
    EXPECT_EQ(std::vector(t.extents().begin(), t.extents().end()), shape.extents) << shape.spec;
    EXPECT_TRUE(t.symmetric()) << shape.spec;
  }
}

TEST(Families, EveryExampleBuilds) {
  for (const TopologyFamily* family : topology_families()) {
    const Topology t = make(family->example);
    EXPECT_EQ(t.family(), family->name);
    EXPECT_FALSE(family->grammar.empty() || family->description.empty());
  }
}

TEST(Families, Dgx1HasSixCablesPerNpu) {
  const Topology t = make("dgx1");
  for (VertexId v = 0; v < 8; ++v) EXPECT_EQ(t.outgoing(v).size(), 6U);
}

TEST(Families, RandomIsRegularSimpleAndRepeatable) {
  for (const std::string_view spec :
       {"random:16,4,1", "random:17,2,2", "random:30,3,3", "random:10,9,4", "random:200,2,5"}) {
    const Topology t = make(spec);
    EXPECT_EQ(t.fingerprint(), make(spec).fingerprint());
    for (VertexId v = 0; v < t.vertices().size(); ++v) {
      std::set<VertexId> neighbours;
      for (const LinkId id : t.outgoing(v)) neighbours.insert(t.link(id).to);
      EXPECT_EQ(neighbours.size(), t.outgoing(v).size()) << spec;
      EXPECT_EQ(t.outgoing(v).size(), t.outgoing(0).size()) << spec;
    }
  }
  EXPECT_NE(make("random:16,4,1").fingerprint(), make("random:16,4,2").fingerprint());
}

TEST(Families, TwoLevelsTakeTheUplink) {
  const TopologyOptions options{.links = {LinkRate{BytesPerSecond{200e9}, Seconds{1e-7}}},
                                .uplink = LinkRate{BytesPerSecond{25e9}, Seconds{1e-6}}};
  const Topology t = make("boxes:2x2", options);
  Router router(t);
  const auto path = router.route(0, 3, 0);
  ASSERT_TRUE(path.has_value());
  ASSERT_EQ(path->size(), 4U);
  EXPECT_EQ(t.link((*path)[0]).bandwidth.value, 200e9);
  EXPECT_EQ(t.link((*path)[1]).bandwidth.value, 25e9);
  EXPECT_NEAR(latency_distances(t, 0, true)[3], 2e-6, 1e-15);
  EXPECT_EQ(router.hop_distance(0, 1), 2U);
}

TEST(Families, ErrorsSayWhat) {
  EXPECT_NE(error_of("torsu:4x4").find("did you mean 'torus'"), std::string::npos) << error_of("torsu:4x4");
  EXPECT_NE(error_of("nonsense").find("hypercube:D"), std::string::npos);
  for (const std::string_view spec : {"hypercube:0",
                                      "hypercube:21",
                                      "random:4,4,1",
                                      "random:5,3,1",
                                      "random:6,1,1",
                                      "random:6,2",
                                      "ring:4x4",
                                      "ring:",
                                      "ring",
                                      "bigraph:3x2",
                                      "dragonfly:2x2",
                                      "fattree:2",
                                      "fattree:1x2x3x4",
                                      "dgx1:8",
                                      "full:100000",
                                      "torus:0",
                                      "torus:4x-1",
                                      "torus:99999999999",
                                      "torus:4x",
                                      "switch:5000000",
                                      "",
                                      ":",
                                      "random:,,",
                                      "random:1,1,1"}) {
    EXPECT_NE(error_of(spec), "") << spec;
  }
}

TEST(Families, DefaultLinkIsNoted) {
  const Topology t = make("ring:4");
  ASSERT_EQ(t.notes().size(), 1U);
  EXPECT_EQ(t.link(0).bandwidth.value, 16e9);
  EXPECT_TRUE(make("ring:4", {.links = {kDefaultLink}}).notes().empty());
}

TEST(LinkRate, Parses) {
  const auto rate = parse_link_rate("25Gb/s,1us");
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->bandwidth.value, 3.125e9);
  EXPECT_EQ(rate->latency.value, 1e-6);
  EXPECT_TRUE(parse_link_rate("16GB/s").has_value());
  for (const std::string_view bad : {"", ",", "16GB/s,", "16,1us", "0GB/s,1us", "16GB/s,1us,2us", "-1GB/s,1us"}) {
    EXPECT_FALSE(parse_link_rate(bad).has_value()) << bad;
  }
}

Result<Topology> changed(std::string_view spec, const TopologyOptions& options) {
  return apply_changes(*topology_from_spec(spec, options), options);
}

TEST(Changes, BreakRemovesEveryCableBothWays) {
  const auto t = changed("torus:4x2", {.breaks = {"0-4"}});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->links().size(), 32U - 4U);
  EXPECT_FALSE(changed("torus:4x4", {.breaks = {"0-5"}}).has_value());
  EXPECT_FALSE(changed("torus:4x4", {.breaks = {"0-99"}}).has_value());
  const auto cut = changed("line:4", {.breaks = {"1-2"}});
  ASSERT_FALSE(cut.has_value());
  EXPECT_NE(cut.error().text.find("{0 1}, {2 3}"), std::string::npos) << cut.error().text;
}

TEST(Changes, BreakOfAVertexTakesItsCablesAndMovesRanksDown) {
  const auto t = changed("torus:4x4", {.breaks = {"5", "6-10"}});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 15U);
  EXPECT_EQ(t->links().size(), 64U - 8U - 2U);
  EXPECT_EQ(t->vertices()[t->vertex_of(5)].name, "6");
  EXPECT_EQ(t->notes()[1], "--break 5: npu and 8 links removed; ranks 6 to 15 are now 5 to 14");
  const auto spine = changed("fattree:4x4x2", {.breaks = {"spine0"}});
  ASSERT_TRUE(spine.has_value()) << spine.error().text;
  EXPECT_EQ(spine->rank_count(), 16U);
  EXPECT_EQ(spine->notes()[1], "--break spine0: switch and 8 links removed");
  EXPECT_FALSE(changed("ring:1", {.breaks = {"0"}}).has_value());
  EXPECT_FALSE(changed("switch:3", {.breaks = {"switch"}}).has_value());
  const auto unknown = changed("ring:4", {.breaks = {"9"}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().text.find("or one of them"), std::string::npos) << unknown.error().text;
}

TEST(Changes, ScaleChangesBothWays) {
  const auto t = changed("ring:4", {.scales = {"0-1=0.5"}});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->link(0).bandwidth.value, 8e9);
  EXPECT_EQ(t->link(1).bandwidth.value, 8e9);
  EXPECT_TRUE(t->symmetric());
  for (const char* bad : {"0-1", "0-1=", "0-1=0", "0-1=-1", "0-1=inf", "0-1=nan", "0-2=2", "0-1=1x", "=2"}) {
    EXPECT_FALSE(changed("ring:4", {.scales = {bad}}).has_value()) << bad;
  }
}

TEST(Changes, GroupNamesRanks) {
  const auto t = changed("torus:4x4", {.group = "0,5-7,2"});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(std::vector(t->ranks().begin(), t->ranks().end()), (std::vector<VertexId>{0, 5, 6, 7, 2}));
  for (const char* bad : {"0,0", "16", "3-1", "x", ",", "0-99", "-"}) {
    EXPECT_FALSE(changed("torus:4x4", {.group = bad}).has_value()) << bad;
  }
  EXPECT_FALSE(changed("switch:4", {.group = "0,switch"}).has_value());
}

TEST(Changes, DirectOnlyNamesTheIslands) {
  const auto t = changed("boxes:2x2", {.direct_only = true});
  ASSERT_FALSE(t.has_value());
  EXPECT_NE(t.error().text.find("{0 1}, {2 3}"), std::string::npos) << t.error().text;
  EXPECT_TRUE(changed("boxes:1x4", {.direct_only = true}).has_value());
}

}  // namespace
}  // namespace hocket

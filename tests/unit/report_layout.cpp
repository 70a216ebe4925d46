// Drawings: every vertex has its own place inside the drawing, whatever the network.
#include "report/layout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/spec.h"

namespace hocket {
namespace {

void expect_room(const Topology& topology) {
  const Layout layout = lay_out(topology);
  ASSERT_EQ(layout.at.size(), topology.vertices().size());
  for (std::size_t i = 0; i < layout.at.size(); ++i) {
    EXPECT_GE(layout.at[i].x, 20) << topology.name();
    EXPECT_GE(layout.at[i].y, 20) << topology.name();
    EXPECT_LE(layout.at[i].x, layout.width - 20) << topology.name();
    EXPECT_LE(layout.at[i].y, layout.height - 20) << topology.name();
    for (std::size_t j = 0; j < i; ++j) {
      const double apart = std::hypot(layout.at[i].x - layout.at[j].x, layout.at[i].y - layout.at[j].y);
      EXPECT_GE(apart, 24) << topology.name() << ": vertices " << j << " and " << i << " touch";
    }
  }
}

TEST(Layout, VerticesNeverTouch) {
  for (const char* words :
       {"ring:1",    "line:2",      "line:5",     "line:40",      "ring:16",     "torus:4x4",   "torus:8x8",
        "mesh:16x4", "torus:4x4x4", "mesh:2x3x4", "hypercube:3",  "hypercube:4", "hypercube:6", "torus:3x3x3x3",
        "full:8",    "switch:8",    "switch:64",  "fattree:4x4",  "fattree:8x8", "bigraph:4x8", "dragonfly:4x4x2",
        "boxes:2x4", "boxes:8x8",   "dgx1",       "random:24,3,7"}) {
    const auto topology = topology_from_spec(words, {});
    ASSERT_TRUE(topology) << words << ": " << topology.error().text;
    expect_room(*topology);
  }
}

TEST(Layout, GridsLieOnTheirCoordinates) {
  const auto topology = topology_from_spec("torus:4x3", {});
  ASSERT_TRUE(topology) << topology.error().text;
  const Layout layout = lay_out(*topology);
  for (std::size_t v = 0; v < layout.at.size(); ++v) {
    const auto& at = topology->vertices()[v].coordinates;
    EXPECT_DOUBLE_EQ(layout.at[v].x, layout.at[0].x + layout.cell * at[0]);
    EXPECT_DOUBLE_EQ(layout.at[v].y, layout.at[0].y + layout.cell * at[1]);
  }
}

}  // namespace
}  // namespace hocket

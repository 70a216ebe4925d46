// topology_of(): what measured figures of one host and of several become.
#include <gtest/gtest.h>

#include "api/probe.h"
#include "topology/route.h"

namespace hocket {
namespace {

ProbeFigures figures_of(const std::vector<std::string>& hosts) {
  ProbeFigures f;
  f.hosts = hosts;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      const bool near = hosts[from] == hosts[to];
      f.latency_s.push_back(from == to ? 0 : near ? 1.2345e-6 : 20e-6);
      f.bandwidth_Bps.push_back(from == to ? 0 : near ? 8.7654e9 : 1e9);
    }
  }
  return f;
}

TEST(ApiProbe, RanksOfOneHostAreJoinedPairByPair) {
  const Topology t = topology_of(figures_of({"a", "a", "a"})).value();
  EXPECT_EQ(t.rank_count(), 3U);
  ASSERT_EQ(t.links().size(), 6U);
  for (const Link& link : t.links()) {
    EXPECT_EQ(link.bandwidth.value, 8.77e9);  // three digits
    EXPECT_EQ(link.latency.value, 1.23e-6);
  }
}

TEST(ApiProbe, HostsMeetThroughNicsThatTheirRanksShare) {
  ProbeFigures f = figures_of({"a", "a", "b", "b"});
  f.between = {{"a", "b", 1.5e9}, {"b", "a", 1.25e9}};
  const Topology t = topology_of(f).value();
  EXPECT_EQ(t.rank_count(), 4U);
  EXPECT_EQ(t.vertices().size(), 7U);    // two nics and the network
  EXPECT_EQ(t.links().size(), 4U + 12);  // near pairs; a cable per rank and per nic
  std::size_t shared = 0;
  for (const Link& link : t.links()) {
    if (t.vertices()[link.from].kind == VertexKind::kNpu && t.vertices()[link.to].kind == VertexKind::kNic) {
      EXPECT_EQ(link.bandwidth.value, 1e9);
      EXPECT_EQ(link.latency.value, 10e-6);
    }
    if (t.vertices()[link.to].kind != VertexKind::kSwitch) continue;
    ++shared;
    EXPECT_EQ(link.bandwidth.value, 1.5e9);  // the better way round
  }
  EXPECT_EQ(shared, 2U);
}

}  // namespace
}  // namespace hocket

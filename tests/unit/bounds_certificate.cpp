// Every bound's certificate, checked by support/certificate.h, proves just the time that the bound states; and the
// words that go with it.
#include <gtest/gtest.h>

#include "bounds/statement.h"
#include "support/certificate.h"
#include "support/small_graphs.h"
#include "topology/spec.h"

namespace hocket {
namespace {

void check_all_kinds(const Topology& t) {
  for (int k = 0; k < kCollectiveKinds; ++k) {
    const auto kind = static_cast<CollectiveKind>(k);
    const std::uint32_t n = t.rank_count();
    const BoundCollective what{{kind, n, is_rooted(kind) ? n - 1 : 0}, std::int64_t{n} << 20};
    const Bound bound = lower_bound(t, what);
    EXPECT_GT(bound.bandwidth.value, 0) << t.name() << " " << name_of(kind);
    EXPECT_NEAR(proved_seconds(t, what, bound) / bound.bandwidth.value, 1, 1e-9)
        << t.name() << " " << name_of(kind) << ": " << bound.bandwidth_rule << " " << bound.bandwidth_limit;
  }
}

TEST(BoundCertificates, ProveWhatTheySay) {
  TopologyOptions options;
  options.links = {*parse_link_rate("100GB/s,1us"), *parse_link_rate("40GB/s,1us")};
  options.uplink = *parse_link_rate("25GB/s,1us");
  for (const char* spec : {"ring:5", "torus:4x4", "mesh:3x5", "dgx1", "switch:6", "fattree:4x4x2", "bigraph:4x4",
                           "boxes:3x4", "full:5", "line:4", "hypercube:4", "random:16,3,1", "dragonfly:3x2x2"}) {
    const auto t = topology_from_spec(spec, options);
    ASSERT_TRUE(t) << t.error().text;
    check_all_kinds(*t);
  }
}

TEST(BoundCertificates, OfRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto npus = 2 + static_cast<std::uint32_t>(random.below(6));
    const auto switches = static_cast<std::uint32_t>(random.below(3));
    check_all_kinds(random_small_graph(npus, switches, random.chance(0.5), seed));
  }
}

TEST(BoundStatements, SayForWhatTheyHold) {
  const Topology mesh = *topology_from_spec("mesh:4x4", {});
  BoundCollective what{{CollectiveKind::kAllReduce, 16, 0}, 1 << 24};
  const std::string sums = statement_of(lower_bound(mesh, what), mesh, what);
  EXPECT_NE(sums.find("no linear or one-element-per-message all-reduce schedule"), std::string::npos) << sums;
  EXPECT_NE(sums.find("graph strength"), std::string::npos) << sums;
  what.op = ReduceOp::kMax;
  EXPECT_EQ(statement_of(lower_bound(mesh, what), mesh, what).find("linear"), std::string::npos);
  const Topology star = *topology_from_spec("switch:4", {});
  what.collective.ranks = 4;
  const std::string forwarded = statement_of(lower_bound(star, what), star, what);
  EXPECT_NE(forwarded.find("not known to be reachable"), std::string::npos) << forwarded;
  EXPECT_EQ(forwarded.find("strength"), std::string::npos) << forwarded;
}

TEST(SeparatePhases, NeedMoreOnMeshes) {
  // Facts of small graphs: RS + AG over equal shards against D / strength.
  const struct {
    const char* spec;
    double ratio;
  } cases[] = {{"line:3", 4.0 / 3}, {"mesh:2x3", 7.0 / 6}, {"mesh:2x4", 1.25}, {"mesh:3x3", 4.0 / 3}, {"mesh:4x4", 1.5},
               {"mesh:8x8", 1.75},  {"torus:3x3", 1},      {"hypercube:3", 1}, {"full:4", 1}};
  for (const auto& c : cases) {
    const Topology t = *topology_from_spec(c.spec, {});
    const BoundCollective what{{CollectiveKind::kAllReduce, t.rank_count(), 0}, std::int64_t{720} << 20};
    const SeparatePhases phases = separate_phases(t, what);
    EXPECT_NEAR(phases.time.value / lower_bound(t, what).bandwidth.value, c.ratio, 1e-6) << c.spec;
    EXPECT_NE(statement_of(phases).find("equal shards"), std::string::npos);
  }
  const Topology mesh = *topology_from_spec("mesh:3x3", {});
  EXPECT_EQ(statement_of(separate_phases(mesh, {{CollectiveKind::kAllGather, 9, 0}, 9})), "");
}

}  // namespace
}  // namespace hocket

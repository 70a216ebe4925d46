// docs/add-a-topology-family.md: the family it lists builds what it says and can be planned on.
#include <gtest/gtest.h>

#include "planner/planner.h"
#include "topology/family.h"

namespace hocket {

extern const TopologyFamily family_ladder;

namespace {

Result<Topology> ladder(std::string_view arguments) {
  static constexpr LinkRate kLink{{1e9}, {1e-6}};
  return family_ladder.build({"ladder:test", arguments, {&kLink, 1}, kLink});
}

TEST(AddATopologyFamily, ListingBuildsALadder) {
  const Result<Topology> topology = ladder("5");
  ASSERT_TRUE(topology) << topology.error().text;
  EXPECT_EQ(topology->rank_count(), 10U);
  EXPECT_EQ(topology->links().size(), 2U * (4 + 4 + 5));
  const BoundCollective what{{CollectiveKind::kAllReduce, 10, 0}, 100000};
  const Result<Planning> planning = plan_collective(*topology, what, {});
  ASSERT_TRUE(planning) << planning.error().text;
  EXPECT_GT(planning->candidates.size(), 3U);
}

TEST(AddATopologyFamily, ListingRefusesWhatIsNoSize) {
  for (const char* arguments : {"", "0", "x", "-1", "3x3", "9999999999"}) EXPECT_FALSE(ladder(arguments)) << arguments;
}

}  // namespace
}  // namespace hocket

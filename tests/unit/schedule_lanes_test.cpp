// message_lanes(): messages that go the same way share a lane, both ends count alike, and lanes follow program order.
#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "planner/planner.h"
#include "schedule/builder.h"
#include "schedule/lanes.h"
#include "topology/spec.h"

namespace hocket {
namespace {

VerifiedSchedule planned(std::string_view algorithm, std::string_view spec) {
  const Topology topology = *topology_from_spec(spec, {});
  const Collective collective{CollectiveKind::kAllReduce, topology.rank_count(), 0};
  return *plan_algorithm(**find_algorithm(algorithm), {topology, collective});
}

/// By op, of all ranks.
std::vector<MessageLane> all_lanes(const Schedule& s) {
  std::vector<MessageLane> all;
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    const std::vector<MessageLane> lanes = message_lanes(s, rank);
    all.insert(all.end(), lanes.begin(), lanes.end());
  }
  return all;
}

TEST(ScheduleLanes, BothEndsOfAMessageCountAlike) {
  for (const std::string_view algorithm : {"packed_trees", "multitree", "dimension_rings", "swing", "direct"}) {
    const VerifiedSchedule verified = planned(algorithm, "torus:2x4");
    const Schedule& s = verified.schedule();
    const std::vector<MessageLane> lanes = all_lanes(s);
    for (OpId id = 0; id < s.ops().size(); ++id) {
      if (!s.op(id).sends()) continue;
      ASSERT_TRUE(lanes[id] == lanes[s.match(id)]) << algorithm << " op " << id;
    }
  }
}

TEST(ScheduleLanes, LanesAreTheRoutesOfAPair) {
  const VerifiedSchedule verified = planned("packed_trees", "torus:2x4");
  const Schedule& s = verified.schedule();
  std::uint32_t highest = 0;
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    const std::vector<MessageLane> lanes = message_lanes(s, rank);
    std::vector<std::vector<std::uint32_t>> routes(s.rank_count());  // by peer, then by lane
    for (OpId id = s.first_op(rank); id < s.first_op(rank + 1); ++id) {
      const Op& op = s.op(id);
      if (!op.sends()) continue;
      const std::uint32_t lane = lanes[id - s.first_op(rank)].lane;
      std::vector<std::uint32_t>& known = routes[op.peer];
      ASSERT_LE(lane, known.size());  // counted in program order, without gaps
      if (lane == known.size()) known.push_back(op.route);
      EXPECT_EQ(known[lane], op.route);
      highest = std::max(highest, lane);
    }
  }
  EXPECT_EQ(highest, 1U);  // a dimension of 2 has two cables
}

TEST(ScheduleLanes, OneWayIsOneLane) {
  const VerifiedSchedule verified = planned("multitree", "torus:4x4");
  const Schedule& s = verified.schedule();
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    for (const MessageLane& m : message_lanes(s, rank)) EXPECT_EQ(m.lane, 0U);
  }
}

TEST(ScheduleLanes, WithoutARouteTheChannelChooses) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {.blocks = 1, .pieces_per_block = 3, .weights = {}},
                          "by hand");
  for (const std::uint16_t piece : {0, 1, 2}) {
    const OpOptions options{.channel = static_cast<std::uint16_t>(piece % 2)};
    builder.send(0, 1, {Buffer::kInput, piece, 1}, options);
    builder.recv(1, 0, {Buffer::kOutput, piece, 1}, options);
  }
  const Schedule s = std::move(builder).finish().value();
  EXPECT_EQ(message_lanes(s, 0), (std::vector<MessageLane>{{0, 0}, {1, 0}, {0, 1}}));
  EXPECT_EQ(message_lanes(s, 1), message_lanes(s, 0));
}

}  // namespace
}  // namespace hocket

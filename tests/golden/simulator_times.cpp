// Exact simulated times against closed forms.
#include <gtest/gtest.h>

#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Topology make(const std::string& spec, double bandwidth, double latency) {
  TopologyOptions options;
  options.links = {{{bandwidth}, {latency}}};
  auto topology = topology_from_spec(spec, options);
  EXPECT_TRUE(topology) << topology.error().text;
  return std::move(*topology);
}

/// A broadcast from rank 0 to the ranks given, each straight from the root, over shortest paths.
Plan broadcast_to(std::uint32_t ranks, const std::vector<std::uint32_t>& order, std::int64_t bytes,
                  std::int64_t segment) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, ranks, 0}, {}, "star");
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (const std::uint32_t r : order) {
    builder.send(0, r, {Buffer::kInput, 0});
    builder.recv(r, 0, {Buffer::kOutput, 0});
  }
  auto verified = prove(*std::move(builder).finish());
  EXPECT_TRUE(verified) << verified.error().text;
  const BoundCollective what{{CollectiveKind::kBroadcast, ranks, 0}, bytes / 4, DataType::kF32, ReduceOp::kSum};
  return *Plan::bind(std::move(*verified), what, {segment});
}

std::int64_t picos(const Plan& plan, const Topology& topology, SimulateOptions options = {}) {
  const auto result = simulate(plan, topology, options);
  EXPECT_TRUE(result) << result.error().text;
  return result ? result->time.count : -1;
}

TEST(SimulatorTimes, OneTransferOverOneLink) {
  // 1 MiB at 1 GiB/s is 1/1024 s; latency 100 ns.
  EXPECT_EQ(picos(broadcast_to(2, {1}, kMiB, kMiB), make("line:2", 1073741824.0, 100e-9)), 976562500 + 100000);
}

TEST(SimulatorTimes, SegmentsPipelineOverHops) {
  // A chain of 3 hops: cut-through, so latencies add up and the size is paid once, whatever the segment.
  const Topology line = make("line:4", 1e9, 1e-6);
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 4, 0}, {}, "far");
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  builder.send(0, 3, {Buffer::kInput, 0});
  builder.recv(3, 0, {Buffer::kOutput, 0});
  for (const std::uint32_t r : {1U, 2U}) {
    builder.send(3, r, {Buffer::kOutput, 0});
    builder.recv(r, 3, {Buffer::kOutput, 0});
  }
  auto verified = prove(*std::move(builder).finish());
  ASSERT_TRUE(verified);
  const BoundCollective what{{CollectiveKind::kBroadcast, 4, 0}, 250000, DataType::kF32, ReduceOp::kSum};
  const Plan plan = *Plan::bind(*verified, what, {kMiB});
  // 1 ms + 3 us to rank 3, then the link back is used twice: for rank 1 (2 hops) first.
  EXPECT_EQ(picos(plan, line), std::int64_t{3'000'000'000} + 4'000'000);
}

TEST(SimulatorTimes, TwoTransfersShareALink) {
  const Topology line = make("line:3", 1e9, 1e-6);
  // Rank 1 first, then rank 2 through it: 1 ms each on the first link, and one more latency.
  EXPECT_EQ(picos(broadcast_to(3, {1, 2}, 1000000, kMiB), line), std::int64_t{2'000'000'000} + 2'000'000);
}

TEST(SimulatorTimes, OneDirectionRing) {
  for (const std::uint32_t n : {2U, 4U, 7U}) {
    const Topology ring = make(fmt::format("ring:{}", n), 1e9, 500e-9);
    const auto verified = plan_algorithm(**find_algorithm("ring"), {ring, {CollectiveKind::kAllReduce, n, 0}});
    ASSERT_TRUE(verified) << verified.error().text;
    const BoundCollective what{
        {CollectiveKind::kAllReduce, n, 0}, 25000 * std::int64_t{n}, DataType::kF32, ReduceOp::kSum};
    const Plan plan = *Plan::bind(*verified, what, {std::int64_t{1} << 30});
    EXPECT_EQ(picos(plan, ring), 2 * (std::int64_t{n} - 1) * (100'000'000 + 500'000)) << n;
  }
}

TEST(SimulatorTimes, PacketsPayHeadFlits) {
  const Topology line = make("line:2", 16e9, 150e-9);
  const Plan plan = broadcast_to(2, {1}, kMiB, kMiB);
  // 17 flits for 16: 1 MiB * 17/16 at 16 GB/s, each packet rounded to a picosecond.
  const double expected = 1048576.0 * 17 / 16 / 16e9 * 1e12 + 150000;
  EXPECT_NEAR(static_cast<double>(picos(plan, line, {.model = NetworkModel::kPacket})), expected, 4096);
}

TEST(SimulatorTimes, PacketEqualsMessageWithoutHeadFlits) {
  const Topology line = make("line:5", 16e9, 150e-9);
  const Plan far = broadcast_to(5, {4, 3, 2, 1}, kMiB, kMiB);
  const double message = static_cast<double>(picos(far, line));
  const double packet = static_cast<double>(picos(far, line, {.model = NetworkModel::kPacket, .head_flit = Bytes{0}}));
  EXPECT_NEAR(packet / message, 1.0, 0.02);
}

TEST(SimulatorTimes, FluidFlowsShareALinkFairly) {
  // Rank 0 sends 1 MB to rank 2 through rank 1 and 0.5 MB to rank 1: half the rate each for 1 ms, then 0.5 ms alone.
  const Topology line = make("line:3", 1e9, 1e-6);
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {1, 2, {}, false}, "two");
  builder.copy(0, {Buffer::kInput, 0, 2}, {Buffer::kOutput, 0, 2});
  builder.send(0, 2, {Buffer::kInput, 0, 2}, {.channel = 0});
  builder.recv(2, 0, {Buffer::kOutput, 0, 2}, {.channel = 0});
  builder.send(0, 1, {Buffer::kInput, 0}, {.channel = 1});
  builder.recv(1, 0, {Buffer::kOutput, 0}, {.channel = 1});
  builder.send(2, 1, {Buffer::kOutput, 1}, {.channel = 2});
  builder.recv(1, 2, {Buffer::kOutput, 1}, {.channel = 2});
  auto verified = prove(*std::move(builder).finish());
  ASSERT_TRUE(verified) << verified.error().text;
  const BoundCollective what{{CollectiveKind::kBroadcast, 3, 0}, 250000, DataType::kF32, ReduceOp::kSum};
  const Plan plan = *Plan::bind(*verified, what, {kMiB});
  // The whole reaches rank 2 at 1.5 ms + 2 us; its second half then needs 0.5 ms + 1 us back to rank 1.
  EXPECT_EQ(picos(plan, line, {.model = NetworkModel::kFluid}), std::int64_t{1'502'000'000} + 501'000'000);
}

TEST(SimulatorTimes, SameInputsSameTimeline) {
  const Topology torus = make("torus:4x4", 16e9, 150e-9);
  const auto verified = plan_algorithm(**find_algorithm("multitree"), {torus, {CollectiveKind::kAllReduce, 16, 0}});
  ASSERT_TRUE(verified) << verified.error().text;
  const BoundCollective what{{CollectiveKind::kAllReduce, 16, 0}, 1 << 20, DataType::kF32, ReduceOp::kSum};
  const Plan plan = *Plan::bind(*verified, what, {1 << 16});
  const auto first = simulate(plan, torus, {.timeline = true});
  const auto second = simulate(plan, torus, {.timeline = true});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->time, second->time);
  EXPECT_EQ(first->link_bytes, second->link_bytes);
  ASSERT_EQ(first->timeline.size(), second->timeline.size());
  for (std::size_t i = 0; i < first->timeline.size(); ++i) {
    EXPECT_EQ(first->timeline[i].begin, second->timeline[i].begin);
    EXPECT_EQ(first->timeline[i].link, second->timeline[i].link);
  }
}

}  // namespace
}  // namespace hocket

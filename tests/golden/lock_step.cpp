// Network interfaces that inject by step, against closed forms to the picosecond: what a packet and a message carry of
// head flits, how long a nop is, what waits for what, and whose packets go first.
#include <gtest/gtest.h>

#include <numeric>

#include "planner/planner.h"
#include "schedule/builder.h"
#include "simulator/contention.h"
#include "simulator/interface_network.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::int64_t kCycle = 1000;      // ps of a flit of 16 B at 16 GB/s
constexpr std::int64_t kLatency = 150000;  // ps

Topology network(const std::string& spec) { return *topology_from_spec(spec, {}); }  // 16 GB/s, 150 ns

/// One piece from rank 0 along the line 0 - 1 - 2, the hops in the given steps.
Plan relay(std::uint32_t first_step, std::uint32_t second_step, std::int64_t bytes) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {}, "relay");
  const PieceRange output{Buffer::kOutput, 0, 1};
  builder.copy(0, {Buffer::kInput, 0, 1}, output);
  builder.send(0, 1, output, {.step = first_step});
  builder.recv(1, 0, output, {.step = first_step});
  builder.send(1, 2, output, {.step = second_step});
  builder.recv(2, 1, output, {.step = second_step});
  auto verified = prove(*std::move(builder).finish());
  EXPECT_TRUE(verified) << verified.error().text;
  const BoundCollective what{{CollectiveKind::kBroadcast, 3, 0}, bytes / 4, DataType::kF32, ReduceOp::kSum};
  return *Plan::bind(std::move(*verified), what, {std::int64_t{1} << 40});
}

SimulationResult run(const Plan& plan, const Topology& topology, Injection injection, FlowControl control,
                     std::uint32_t interfaces = 0) {
  SimulateOptions options{.model = NetworkModel::kPacket};
  options.interfaces = {.injection = injection, .flow_control = control, .count = interfaces};
  const auto result = simulate(plan, topology, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().text);
  return result ? *result : SimulationResult{};
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// 100 packets of 16 flits and a head each, or one head for all, per hop.
TEST(LockStep, HeadFlits) {
  const Plan plan = relay(0, 1, 25600);
  const Topology line = network("line:3");
  const SimulationResult packet = run(plan, line, Injection::kLockStep, FlowControl::kPacket);
  EXPECT_EQ(packet.time.count, 2 * (1700 * kCycle + kLatency));
  EXPECT_EQ(sum(packet.link_bytes) * 16, 2 * 25600 * 17);
  const SimulationResult message = run(plan, line, Injection::kLockStep, FlowControl::kMessage);
  EXPECT_EQ(message.time.count, 2 * (1601 * kCycle + kLatency));
  EXPECT_EQ(sum(message.link_bytes), 2 * (25600 + 16));
}

// Rank 1 sends in step 5: five nops of (100 - 58) packets pass first, unless the data come later still.
TEST(LockStep, NopsLastAsLongAsTheBufferCannotHide) {
  const Topology line = network("line:3");
  // The largest message of a step sets the length; steps without any last no time, so each has one: a star of ranks.
  const auto with_traffic = [&](std::int64_t bytes, FlowControl control) {
    ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {.blocks = 1, .pieces_per_block = 6}, "traffic");
    builder.copy(0, {Buffer::kInput, 0, 6}, {Buffer::kOutput, 0, 6});
    for (std::uint32_t piece = 0; piece < 6; ++piece) {
      const PieceRange run_of{Buffer::kOutput, piece, 1};
      builder.send(0, 1, run_of, {.step = piece});
      builder.recv(1, 0, run_of, {.step = piece});
    }
    builder.send(1, 2, {Buffer::kOutput, 0, 6}, {.step = 6});
    builder.recv(2, 1, {Buffer::kOutput, 0, 6}, {.step = 6});
    auto verified = prove(*std::move(builder).finish());
    EXPECT_TRUE(verified) << verified.error().text;
    const BoundCollective what{{CollectiveKind::kBroadcast, 3, 0}, 6 * bytes / 4, DataType::kF32, ReduceOp::kSum};
    const Plan plan = *Plan::bind(std::move(*verified), what, {std::int64_t{1} << 40});
    return run(plan, line, Injection::kLockStep, control).time.count;
  };
  // The data of rank 1 are whole when the last of 6 messages has come; 6 nops are shorter than that.
  EXPECT_EQ(with_traffic(25600, FlowControl::kMessage),
            6 * 1601 * kCycle + kLatency + (6 * 1600 + 1) * kCycle + kLatency);
  EXPECT_EQ(with_traffic(25600, FlowControl::kPacket), 2 * (6 * 1700 * kCycle + kLatency));
}

/// Two ranks that send to each other nothing but in given steps: rank 0 in step 0 and in `last`; rank 1 in all others.
std::int64_t time_of_nops(std::uint32_t last, std::int64_t bytes, FlowControl control) {
  ScheduleBuilder builder({CollectiveKind::kAllGather, 2, 0}, {.blocks = 2, .pieces_per_block = last + 1}, "turns");
  const std::uint32_t pieces = last + 1;
  builder.copy(0, {Buffer::kInput, 0, pieces}, {Buffer::kOutput, 0, pieces});
  builder.copy(1, {Buffer::kInput, pieces, pieces}, {Buffer::kOutput, pieces, pieces});
  const auto send = [&](std::uint32_t from, std::uint32_t piece, std::uint32_t count, std::uint32_t step) {
    const PieceRange what{Buffer::kOutput, from * pieces + piece, count};
    builder.send(from, 1 - from, what, {.step = step});
    builder.recv(1 - from, from, what, {.step = step});
  };
  send(0, 0, 1, 0);
  for (std::uint32_t step = 1; step < last; ++step) send(1, step - 1, 1, step);
  send(0, 1, last, last);  // the rest, in the last step
  send(1, last - 1, 2, last);
  auto verified = prove(*std::move(builder).finish());
  EXPECT_TRUE(verified) << verified.error().text;
  const BoundCollective what{
      {CollectiveKind::kAllGather, 2, 0}, 2 * pieces * bytes / 4, DataType::kF32, ReduceOp::kSum};
  const Plan plan = *Plan::bind(std::move(*verified), what, {std::int64_t{1} << 40});
  SimulateOptions options{.model = NetworkModel::kPacket, .timeline = true};
  options.interfaces = {.injection = Injection::kLockStep, .flow_control = control};
  const auto result = simulate(plan, network("ring:2"), options);
  EXPECT_TRUE(result) << result.error().text;
  // When the first packet of rank 0's last message leaves.
  std::int64_t begin = INT64_MAX;
  for (const LinkInterval& bar : result->timeline) {
    const Op& op = plan.schedule().op(bar.op);
    if (op.step == last && plan.schedule().rank_of(bar.op) == 0) begin = std::min(begin, bar.begin.count);
  }
  return begin;
}

TEST(LockStep, ANopIsAnEstimateOfWhatABufferedMessageTakes) {
  // 40 packets: the sending step takes 40 cycles to hand them over, then nops of 40, the first twice as long.
  EXPECT_EQ(time_of_nops(3, 40 * 256, FlowControl::kMessage), std::max<std::int64_t>(40 + 80 + 40, 641) * kCycle);
  EXPECT_EQ(time_of_nops(9, 40 * 256, FlowControl::kMessage), std::max<std::int64_t>(40 + 80 + 7 * 40, 641) * kCycle);
  EXPECT_EQ(time_of_nops(30, 40 * 256, FlowControl::kMessage), (40 + 80 + 28 * 40) * kCycle);
  // 100 packets: 42 do not fit the buffer. The step ends when 42 have left, one of them with the head.
  EXPECT_EQ(time_of_nops(3, 100 * 256, FlowControl::kMessage), (1 + 42 * 16 + 2 * 42 * 16 + 42 * 16) * kCycle);
  EXPECT_EQ(time_of_nops(3, 100 * 256, FlowControl::kPacket), (42 * 17 + 2 * 42 * 17 + 42 * 17) * kCycle);
}

TEST(LockStep, AMessageMustNotWaitForALaterStep) {
  const Plan plan = relay(4, 4, 256);
  SimulateOptions options{.model = NetworkModel::kPacket};
  options.interfaces.injection = Injection::kLockStep;
  const auto result = simulate(plan, network("line:3"), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnsupported);
  EXPECT_NE(result.error().text.find("rank 1 op 1"), std::string::npos) << result.error().text;
  EXPECT_NE(result.error().text.find("is of step 4 and waits for a message of step 4"), std::string::npos);
}

TEST(LockStep, NeedsPacketsAndWholeMessages) {
  const Plan plan = relay(0, 1, 4096);
  SimulateOptions options;
  options.interfaces.injection = Injection::kLockStep;
  EXPECT_EQ(simulate(plan, network("line:3"), options).error().code, Code::kUnsupported);
  options.model = NetworkModel::kPacket;
  const Plan cut = *Plan::bind(plan.verified(), plan.what(), {1024});
  const auto result = simulate(cut, network("line:3"), options);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("goes in 4 segments"), std::string::npos) << result.error().text;
}

Plan multitree(const Topology& topology, std::int64_t bytes) {
  const Collective collective{CollectiveKind::kAllReduce, topology.rank_count(), 0};
  auto verified = plan_algorithm(**find_algorithm("multitree"), {topology, collective});
  EXPECT_TRUE(verified) << verified.error().text;
  return *Plan::bind(std::move(*verified), {collective, bytes / 4, DataType::kF32, ReduceOp::kSum}, {bytes});
}

// All ranks in step, no two messages on a link: a step is one message and its latency. With counters of their own the
// ranks hide some of the latencies.
TEST(LockStep, StepsOfMultitreeTakeOneMessageEach) {
  const Topology torus = network("torus:4x4");
  const std::int64_t bytes = std::int64_t{2} << 20;
  const Plan plan = multitree(torus, bytes);
  const std::int64_t step = (bytes / 16 / 256 * 17) * kCycle + kLatency;
  EXPECT_EQ(run(plan, torus, Injection::kGlobalStep, FlowControl::kPacket).time.count, 10 * step);
  const std::int64_t lock_step = run(plan, torus, Injection::kLockStep, FlowControl::kPacket).time.count;
  EXPECT_LE(lock_step, 10 * step);
  EXPECT_GE(lock_step, 10 * (step - kLatency));
}

TEST(Contention, MultitreeHasNone) {
  for (const std::string spec :
       {"torus:4x4", "torus:8x8", "mesh:4x4", "mesh:8x8", "torus:4x4x4", "hypercube:4", "fattree:4x4", "bigraph:4x8"}) {
    const Topology topology = network(spec);
    const Plan plan = multitree(topology, 1 << 20);
    const auto contention = find_contention(plan.schedule(), topology);
    ASSERT_TRUE(contention) << contention.error().text;
    EXPECT_FALSE(contention->example) << spec;
    EXPECT_EQ(contention->shared, 0U) << spec;
    EXPECT_GT(contention->uses, 0U) << spec;
  }
}

TEST(Contention, NamesTwoMessagesOnOneLink) {
  const Topology line = network("line:3");
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {.blocks = 1, .pieces_per_block = 4}, "crowd");
  builder.copy(0, {Buffer::kInput, 0, 4}, {Buffer::kOutput, 0, 4});
  const auto send = [&](std::uint32_t to, std::uint32_t piece, std::uint32_t count) {
    builder.send(0, to, {Buffer::kOutput, piece, count});
    builder.recv(to, 0, {Buffer::kOutput, piece, count});
  };
  send(1, 0, 2);
  send(1, 2, 2);  // carries on where the first ends: one message
  send(2, 0, 4);  // passes over the same link
  const Schedule schedule = *std::move(builder).finish();
  const auto contention = find_contention(schedule, line);
  ASSERT_TRUE(contention) << contention.error().text;
  EXPECT_EQ(contention->uses, 2U);
  EXPECT_EQ(contention->shared, 1U);
  ASSERT_TRUE(contention->example);
  EXPECT_EQ(line.describe_link(contention->example->link), line.describe_link(0));
  EXPECT_EQ(contention->example->second, 3U);
}

// One interface: what leaves over four links goes one after another.
TEST(Interfaces, OneIsSharedByAllLinks) {
  const Topology full = network("full:4");
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 4, 0}, {}, "star");
  builder.copy(0, {Buffer::kInput, 0, 1}, {Buffer::kOutput, 0, 1});
  for (std::uint32_t to = 1; to < 4; ++to) {
    builder.send(0, to, {Buffer::kOutput, 0, 1});
    builder.recv(to, 0, {Buffer::kOutput, 0, 1});
  }
  auto verified = prove(*std::move(builder).finish());
  ASSERT_TRUE(verified);
  const BoundCollective what{{CollectiveKind::kBroadcast, 4, 0}, 6400, DataType::kF32, ReduceOp::kSum};
  const Plan plan = *Plan::bind(std::move(*verified), what, {25600});
  const auto time = [&](std::uint32_t count) {
    return run(plan, full, Injection::kWhenReady, FlowControl::kPacket, count).time.count;
  };
  EXPECT_EQ(time(0), 1700 * kCycle + kLatency);
  EXPECT_EQ(time(3), time(0));
  EXPECT_EQ(time(1), 3 * 1700 * kCycle + kLatency);
  EXPECT_EQ(time(2), 2 * 1700 * kCycle + kLatency);
  const SimulationResult one = run(plan, full, Injection::kWhenReady, FlowControl::kPacket, 1);
  EXPECT_EQ(one.link_bytes.size(), full.links().size());
  EXPECT_EQ(one.links_used, 3U);
  EXPECT_FALSE(InterfaceNetwork::make(full, 0));
}

}  // namespace
}  // namespace hocket

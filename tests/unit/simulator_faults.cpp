// What the simulator must refuse or survive: times beyond its clock, routes that lead elsewhere, options without sense.
#include <gtest/gtest.h>

#include "schedule/builder.h"
#include "simulator/simulator.h"
#include "topology/route.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology chain(std::uint32_t switches, double bandwidth, double latency) {
  TopologyBuilder builder("chain");
  VertexId last = builder.add_vertex("a", VertexKind::kNpu);
  for (std::uint32_t s = 0; s <= switches; ++s) {
    const bool end = s == switches;
    const VertexId next =
        builder.add_vertex(end ? "b" : fmt::format("s{}", s), end ? VertexKind::kNpu : VertexKind::kSwitch);
    builder.add_cable(last, next, {bandwidth}, {latency});
    last = next;
  }
  return *std::move(builder).build();
}

Topology line(std::uint32_t n, double bandwidth, double latency) {
  TopologyOptions options;
  options.links = {{{bandwidth}, {latency}}};
  return *topology_from_spec(fmt::format("line:{}", n), options);
}

/// Rank 0 sends everything to everyone itself; `routes` states a path (index into them) per receiver, if not empty.
Plan star(const Topology& topology, std::int64_t count, const std::vector<std::vector<LinkId>>& routes = {},
          const std::vector<std::uint32_t>& route_of = {}) {
  const Collective collective{CollectiveKind::kBroadcast, topology.rank_count(), 0};
  ScheduleBuilder builder(collective, {}, "star");
  for (const auto& route : routes) builder.add_route(route);
  if (!routes.empty()) builder.set_topology(topology.fingerprint());
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (std::uint32_t r = 1; r < collective.ranks; ++r) {
    builder.send(0, r, {Buffer::kInput, 0}, {.route = route_of.empty() ? kNoRoute : route_of[r - 1]});
    builder.recv(r, 0, {Buffer::kOutput, 0});
  }
  return *Plan::bind(*prove(*std::move(builder).finish()), {collective, count, DataType::kF32, ReduceOp::kSum},
                     {std::int64_t{1} << 62});
}

TEST(SimulatorFaults, TimesBeyondTheClockAreRefused) {
  for (const NetworkModel model : kNetworkModels) {
    // 4 TiB at 1 B/s: 51 days a transfer, three of them; then latencies of 11 days, eight of them.
    constexpr Bytes kWhole{std::int64_t{1} << 40};
    const SimulateOptions options{.model = model, .packet_payload = kWhole, .tcp_chunk = kWhole};
    const Topology slow = line(4, 1, 0);
    const auto transfer = simulate(star(slow, std::int64_t{1} << 40), slow, options);
    ASSERT_FALSE(transfer);
    EXPECT_EQ(transfer.error().code, Code::kUnsupported) << transfer.error().text;
    const Topology far = chain(7, 1e9, 1e6);
    const auto latency = simulate(star(far, 1), far, options);
    ASSERT_FALSE(latency);
    EXPECT_EQ(latency.error().code, Code::kUnsupported) << latency.error().text;
  }
}

TEST(SimulatorFaults, LatenciesThatAreNoWholePicosecondsStayAboveTheBound) {
  for (const NetworkModel model : kNetworkModels) {
    for (const double latency : {0.3e-12, 1.4e-12, 1.5e-12, 150.4e-12}) {
      const Topology topology = chain(200, 1e15, latency);
      const auto result = simulate(star(topology, 1), topology, {.model = model});
      ASSERT_TRUE(result) << result.error().text;
      EXPECT_GE(to_seconds(result->time).value, 201 * latency);
    }
  }
}

TEST(SimulatorFaults, EverySendOfAStatedRouteIsChecked) {
  const Topology topology = line(3, 1e9, 1e-6);
  LinkId first = 0;
  while (topology.link(first).from != 0) ++first;
  // One route, 0 -> 1, also stated for the message to rank 2.
  const auto result = simulate(star(topology, 64, {{first}}, {0, 0}), topology);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kMismatch);
}

TEST(SimulatorFaults, AStatedRouteIsCheckedAgainstEverySender) {
  // The route 0 -> 1 is right for rank 0's message and stated again by rank 2's.
  const Topology ring = *topology_from_spec("ring:3", {});
  LinkId link = 0;
  while (ring.link(link).from != 0 || ring.link(link).to != 1) ++link;
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {1, 2, {}, false}, "twice");
  builder.set_topology(ring.fingerprint());
  const std::uint32_t route = builder.add_route(std::vector<LinkId>{link});
  builder.copy(0, {Buffer::kInput, 0, 2}, {Buffer::kOutput, 0, 2});
  builder.send(0, 2, {Buffer::kInput, 0, 2});
  builder.recv(2, 0, {Buffer::kOutput, 0, 2});
  builder.send(0, 1, {Buffer::kInput, 0}, {.route = route});
  builder.recv(1, 0, {Buffer::kOutput, 0});
  builder.send(2, 1, {Buffer::kOutput, 1}, {.route = route});
  builder.recv(1, 2, {Buffer::kOutput, 1});
  const Plan plan = *Plan::bind(*prove(*std::move(builder).finish()),
                                {{CollectiveKind::kBroadcast, 3, 0}, 64, DataType::kF32, ReduceOp::kSum}, {256});
  const auto result = simulate(plan, ring);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kMismatch);
}

TEST(SimulatorFaults, EmptyRoutesAreRefused) {
  const Topology topology = line(2, 1e9, 1e-6);
  const auto result = simulate(star(topology, 64, {{}}, {0}), topology);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kMismatch);
}

TEST(SimulatorFaults, ATimeBelowTheBoundIsAnInternalErrorThatNamesBoth) {
  // No schedule gets there, so the bound is made up: a thousandth above the time of 65.536 us + 1 us.
  const Topology topology = line(2, 1e9, 1e-6);
  Bound bound;
  bound.time = Seconds{66.536e-6 * 1.001};
  bound.rule = "made up";
  const auto result = simulate(star(topology, 16384), topology, {.bound = &bound});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInternal);
  EXPECT_NE(result.error().text.find("6.6536e-05 s lies below the lower bound"), std::string::npos);
  EXPECT_NE(result.error().text.find("6.66"), std::string::npos) << result.error().text;
  bound.time = Seconds{66.536e-6};
  const auto equal = simulate(star(topology, 16384), topology, {.bound = &bound});
  ASSERT_TRUE(equal) << equal.error().text;
  EXPECT_DOUBLE_EQ(equal->fraction_of_bound(), 1.0);
}

TEST(SimulatorFaults, RoutesOfAnotherTopologyAreRefused) {
  const Topology topology = line(2, 1e9, 1e-6);
  const Topology other = line(2, 2e9, 1e-6);
  LinkId first = 0;
  while (topology.link(first).from != 0) ++first;
  const Plan plan = star(topology, 64, {{first}}, {0});
  EXPECT_TRUE(simulate(plan, topology));
  const auto result = simulate(plan, other);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kMismatch);
}

TEST(SimulatorFaults, EndlessRoutesAreRefused) {
  const Topology topology = line(2, 1e9, 1e-6);
  const LinkId there = topology.outgoing(0).front();
  const LinkId back = topology.outgoing(1).front();
  std::vector<LinkId> route{there};
  for (int i = 0; i < 40000; ++i) route.insert(route.end(), {back, there});
  for (const NetworkModel model : kNetworkModels) {
    const auto result = simulate(star(topology, 64, {route}, {0}), topology, {.model = model});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::kUnsupported);
  }
}

TEST(SimulatorFaults, ParallelLinksAreChosenAsTheRouterDoes) {
  TopologyBuilder builder("triple");
  builder.add_vertex("a", VertexKind::kNpu);
  builder.add_vertex("b", VertexKind::kNpu);
  for (int i = 0; i < 3; ++i) builder.add_cable(0, 1, {1e9}, {1e-6});
  builder.add_cable(1, builder.add_vertex("a single one", VertexKind::kSwitch), {1e9}, {1e-6});
  const Topology topology = *std::move(builder).build();
  for (const std::uint16_t channel : {0, 2, 16, 17, 65535}) {
    ScheduleBuilder ops({CollectiveKind::kBroadcast, 2, 0}, {}, "one");
    ops.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
    ops.send(0, 1, {Buffer::kInput, 0}, {.channel = channel});
    ops.recv(1, 0, {Buffer::kOutput, 0}, {.channel = channel});
    const Plan plan = *Plan::bind(*prove(*std::move(ops).finish()),
                                  {{CollectiveKind::kBroadcast, 2, 0}, 64, DataType::kF32, ReduceOp::kSum}, {256});
    const auto result = simulate(plan, topology);
    ASSERT_TRUE(result) << result.error().text;
    Router router(topology);
    EXPECT_EQ(result->link_bytes[router.route(0, 1, channel)->front()], 256) << channel;
  }
}

}  // namespace
}  // namespace hocket

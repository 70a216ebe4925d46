// The message, packet and fluid models against closed forms, to the picosecond, on networks and schedules made for one
// equation each.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/transfers.h"

namespace hocket {
namespace {

using enum NetworkModel;

using test::bind;
using test::Hop;
using test::kNs;
using test::kUs;
using test::make;
using test::path;
using test::picos;
using test::run;
using test::transfer;

TEST(MessageModel, LatenciesAddUpAndTheSlowestLinkCounts) {
  const Hop slow{1e9, 300e-9};
  const Hop fast{4e9, 200e-9};
  const Plan plan = transfer(100000);  // 100 us on the slow link, 25 us on the fast one
  EXPECT_EQ(picos(plan, path({slow, fast})), 100 * kUs + 500 * kNs);
  EXPECT_EQ(picos(plan, path({fast, slow})), 100 * kUs + 500 * kNs);
  EXPECT_EQ(picos(plan, path({fast, slow, fast})), 100 * kUs + 700 * kNs);
  EXPECT_EQ(picos(plan, path({fast, fast})), 25 * kUs + 400 * kNs);
}

TEST(MessageModel, AFastLinkIsHeldUntilTheTailHasCome) {
  const SimulationResult result = run(transfer(100000), path({{1e9, 300e-9}, {4e9, 200e-9}}));
  // Head there at 300 ns, tail at 100.3 us: held for 100 us, not for 25.
  EXPECT_EQ(result.link_busy[result.busiest_link], Picos{100 * kUs});
  std::int64_t held = 0;
  for (const Picos busy : result.link_busy) held += busy.count;
  EXPECT_EQ(held, 200 * kUs);
}

TEST(MessageModel, StoreAndForwardPaysTheSizePerHop) {
  const Topology three = path({{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 1e-6}});
  EXPECT_EQ(picos(transfer(100000), three, {.store_and_forward = true}), 3 * (100 + 1) * kUs);
  // Four segments pipeline: (hops + segments - 1) steps of a segment.
  EXPECT_EQ(picos(transfer(100000, 25000), three, {.store_and_forward = true}), (3 + 4 - 1) * 25 * kUs + 3 * kUs);
  EXPECT_EQ(picos(transfer(100000, 25000), three), (100 + 3) * kUs);
}

TEST(MessageModel, OverheadIsPaidPerSegmentOnTheFirstLink) {
  const Topology two = path({{1e9, 1e-6}, {1e9, 1e-6}});
  const SimulateOptions options{.per_message_overhead = Seconds{5e-6}};
  EXPECT_EQ(picos(transfer(100000), two, options), (5 + 100 + 2) * kUs);
  EXPECT_EQ(picos(transfer(100000, 25000), two, options), (4 * (5 + 25) + 2) * kUs);
}

TEST(MessageModel, RelaysPipelineSegments) {
  // A chain of 5 ranks, 8 segments: the first pays every hop in full, the other seven follow one segment apart.
  constexpr std::uint32_t kRanks = 5;
  ScheduleBuilder builder({CollectiveKind::kBroadcast, kRanks, 0}, {}, "chain");
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (std::uint32_t r = 0; r + 1 < kRanks; ++r) {
    if (r > 0) builder.recv(r, r - 1, {Buffer::kOutput, 0});
    builder.send(r, r + 1, {r == 0 ? Buffer::kInput : Buffer::kOutput, 0});
  }
  builder.recv(kRanks - 1, kRanks - 2, {Buffer::kOutput, 0});
  const Plan plan = bind(std::move(builder), 800000, 100000);
  EXPECT_EQ(picos(plan, make("line:5", 1e9, 1e-6)), 4 * (100 + 1) * kUs + 7 * 100 * kUs);
}

TEST(MessageModel, OpsThatShareALinkTakeTurns) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {.blocks = 1, .pieces_per_block = 3}, "shared");
  builder.copy(0, {Buffer::kInput, 0, 3}, {Buffer::kOutput, 0, 3});
  for (const PieceRange run : {PieceRange{Buffer::kInput, 0, 2}, PieceRange{Buffer::kInput, 2, 1}}) {
    const auto channel = static_cast<std::uint16_t>(run.piece);
    builder.send(0, 1, run, {.channel = channel});
    builder.recv(1, 0, {Buffer::kOutput, run.piece, run.count}, {.channel = channel});
  }
  const Plan plan = bind(std::move(builder), 12000, 2000);  // 4 segments and 2
  const SimulationResult result = run(plan, make("full:2", 1e9, 0), {.timeline = true});
  std::vector<OpId> order;
  for (const LinkInterval& bar : result.timeline) order.push_back(bar.op);
  EXPECT_EQ(order, (std::vector<OpId>{1, 2, 1, 2, 1, 1}));
  EXPECT_EQ(result.time.count, 12 * kUs);
}

TEST(MessageModel, FartherCostsMore) {
  // On an 8x8 torus 0 -> 1 is one hop, 0 -> 9 two; either way one transfer.
  const Topology torus = make("torus:8x8", 16e9, 150e-9);
  const Plan plan = transfer(16000);
  const std::int64_t near = picos(plan, *with_ranks(torus, std::vector<VertexId>{0, 1}));
  const std::int64_t far = picos(plan, *with_ranks(torus, std::vector<VertexId>{0, 9}));
  EXPECT_EQ(near, 1 * kUs + 150 * kNs);
  EXPECT_EQ(far, 1 * kUs + 300 * kNs);
}

TEST(Models, AMessageWithoutBytesTakesItsLatency) {
  const Topology three = path({{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 1e-6}});
  EXPECT_EQ(picos(transfer(0), three), 3 * kUs);
  EXPECT_EQ(picos(transfer(0), three, {.model = kFluid}), 3 * kUs);
  // A packet of nothing is its head flit: 16 ns at 1 GB/s.
  EXPECT_EQ(picos(transfer(0), three, {.model = kPacket}), 3 * kUs + 16 * kNs);
  const SimulationResult result = run(transfer(0), three);
  EXPECT_EQ(result.links_used, 0U);
  EXPECT_EQ(result.segments, 1U);
}

TEST(Models, SignalsOrderRanks) {
  // Rank 1 has nothing to say before rank 0's signal has come: a latency, a transfer, a latency.
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 1}, {}, "signalled");
  builder.copy(1, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  builder.signal(0, 1);
  builder.recv(0, 1, {Buffer::kOutput, 0});
  const BuilderOp wait = builder.wait(1, 0);
  builder.depend(builder.send(1, 0, {Buffer::kInput, 0}), wait);
  const Plan plan = bind(std::move(builder), 100000);
  const Topology two = make("line:2", 1e9, 1e-6);
  EXPECT_EQ(picos(plan, two), (1 + 100 + 1) * kUs);
  EXPECT_EQ(picos(plan, two, {.model = kFluid}), (1 + 100 + 1) * kUs);
}

TEST(Models, UnusedLinksAreListedWithNothing) {
  const SimulationResult result = run(transfer(100000), path({{1e9, 1e-6}, {1e9, 1e-6}}));
  ASSERT_EQ(result.link_bytes.size(), 4U);  // both directions of both cables
  EXPECT_EQ(result.links_used, 2U);
  EXPECT_EQ(std::count(result.link_bytes.begin(), result.link_bytes.end(), 100000), 2);
  EXPECT_EQ(std::count(result.link_bytes.begin(), result.link_bytes.end(), 0), 2);
  EXPECT_NEAR(result.utilisation(result.busiest_link), 100.0 / 102, 1e-12);
  EXPECT_EQ(result.messages, 1U);
  EXPECT_TRUE(result.network_only);
}

TEST(LocalWork, IsDoneOnePieceAfterTheOther) {
  // Two ranks swap all they have and reduce: 100 us on the wire, 1 us on the way, 25 us of reduction.
  ScheduleBuilder builder({CollectiveKind::kAllReduce, 2, 0}, {}, "swap");
  for (const std::uint32_t r : {0U, 1U}) {
    builder.send(r, 1 - r, {Buffer::kInput, 0});
    builder.recv_reduce(r, 1 - r, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  }
  const Topology two = make("line:2", 1e9, 1e-6);
  for (const NetworkModel model : {kMessage, kFluid}) {
    ScheduleBuilder same = builder;
    const Plan plan = bind(std::move(same), 100000);
    EXPECT_EQ(picos(plan, two, {.model = model}), (100 + 1) * kUs);
    const SimulationResult result = run(plan, two, {.model = model, .reduce_rate = BytesPerSecond{4e9}});
    EXPECT_EQ(result.time.count, (100 + 1 + 25) * kUs);
    EXPECT_FALSE(result.network_only);
    EXPECT_EQ(picos(plan, two, {.model = model, .copy_rate = BytesPerSecond{1e9}}), (100 + 1) * kUs);
  }
  // Four segments: the work of one hides behind the transfer of the next, unless it is the slower of the two.
  const Plan cut = bind(std::move(builder), 100000, 25000);
  EXPECT_EQ(picos(cut, two, {.reduce_rate = BytesPerSecond{4e9}}), (100 + 1) * kUs + 6250 * kNs);
  EXPECT_EQ(picos(cut, two, {.reduce_rate = BytesPerSecond{0.5e9}}), (25 + 1 + 4 * 50) * kUs);
}

TEST(LocalWork, CopiesTakeTimeToo) {
  // Rank 0's own copy comes first (in place its input and output are one buffer), then the transfer, then the receive.
  EXPECT_EQ(picos(transfer(100000), make("line:2", 1e9, 1e-6), {.copy_rate = BytesPerSecond{1e9}}),
            (100 + 100 + 1 + 100) * kUs);
}

TEST(PacketModel, HeadFlitsAndHopsExactly) {
  // 272 B at 16 GB/s: 17 ns; packets pipeline over the hops.
  for (const std::size_t hops : {1U, 2U, 5U}) {
    const Topology topology = path(std::vector<Hop>(hops, {16e9, 150e-9}));
    const auto h = static_cast<std::int64_t>(hops);
    EXPECT_EQ(picos(transfer(256 * 1000), topology, {.model = kPacket}), 17000 * kNs + h * 150 * kNs);
    EXPECT_EQ(picos(transfer(256 * 1000), topology, {.model = kPacket, .head_flit = Bytes{0}}),
              picos(transfer(256 * 1000), topology));
    // Stored at every hop: one packet more per hop.
    EXPECT_EQ(picos(transfer(256 * 1000), topology, {.model = kPacket, .store_and_forward = true}),
              17000 * kNs + (h - 1) * 17 * kNs + h * 150 * kNs);
    // A last packet of 4 B.
    EXPECT_EQ(picos(transfer(256 * 1000 + 4), topology, {.model = kPacket}), 17000 * kNs + 1250 + h * 150 * kNs);
  }
}

// One message over 1 to 8 links of a torus of two rates, in sizes that packets divide and that they do not: without
// head flits, and with the share of head flits taken out of the transfer, packets take within 2 % of the message.
TEST(PacketModel, AMultiHopMessageTakesWhatItTakesWhole) {
  TopologyOptions options;
  options.links = {{{16e9}, {150e-9}}, {{7e9}, {400e-9}}};
  const Topology torus = *topology_from_spec("torus:8x8", options);
  for (const VertexId to : {1U, 4U, 8U, 9U, 27U, 36U}) {
    const Topology pair = *with_ranks(torus, std::vector<VertexId>{0, to});
    const auto latency = static_cast<double>(picos(transfer(0), pair));
    for (const std::int64_t bytes : {4096, 100'004, 1 << 20}) {
      const auto whole = static_cast<double>(picos(transfer(bytes), pair));
      EXPECT_GT(whole, latency);
      const auto bare = static_cast<double>(picos(transfer(bytes), pair, {.model = kPacket, .head_flit = Bytes{0}}));
      EXPECT_NEAR(bare / whole, 1, 0.02) << to << ' ' << bytes;
      const auto headed = static_cast<double>(picos(transfer(bytes), pair, {.model = kPacket}));
      EXPECT_NEAR(((headed - latency) * 256 / 272 + latency) / whole, 1, 0.02) << to << ' ' << bytes;
    }
  }
}

/// A chain of three ranks for a long piece (510 parts); a short one (1 part) goes from rank 0 to both.
Plan through_traffic() {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {1, 2, {510, 1}, false}, "through");
  builder.copy(0, {Buffer::kInput, 0, 2}, {Buffer::kOutput, 0, 2});
  builder.send(0, 1, {Buffer::kInput, 0});
  builder.recv(1, 0, {Buffer::kOutput, 0});
  builder.send(1, 2, {Buffer::kOutput, 0});
  builder.recv(2, 1, {Buffer::kOutput, 0});
  builder.send(0, 1, {Buffer::kInput, 1}, {.channel = 1});
  builder.recv(1, 0, {Buffer::kOutput, 1}, {.channel = 1});
  builder.send(0, 2, {Buffer::kInput, 1});
  builder.recv(2, 0, {Buffer::kOutput, 1});
  return bind(std::move(builder), 511 * 128);
}

TEST(PacketModel, ThroughTrafficTakesTurns) {
  // At 255 * 256 ns rank 1 has the long piece and sends it on, packet by packet. Rank 0's short message for rank 2
  // comes by 128 ns later: it follows the first packet of rank 1's, where a message would wait for all 255.
  const Topology line = make("line:3", 1e9, 0);
  const Plan plan = through_traffic();
  const auto passes = [&](const SimulateOptions& options) {
    for (const LinkInterval& bar : run(plan, line, options).timeline) {
      const bool of_root = plan.schedule().rank_of(bar.op) == 0;
      if (of_root && line.link(bar.link).from == 1 && line.link(bar.link).to == 2) return bar.begin.count;
    }
    return std::int64_t{-1};
  };
  const SimulateOptions packets{.model = kPacket, .head_flit = Bytes{0}, .timeline = true};
  EXPECT_EQ(passes(packets), 256 * 256 * kNs);
  EXPECT_EQ(passes({.timeline = true}), 510 * 256 * kNs);
  EXPECT_EQ(picos(plan, line, packets), (510 * 256 + 128) * kNs);
}

TEST(PacketModel, InputsTakeTurnsHoweverMuchTheyHave) {
  // All-gather on a line of three: rank 1's two messages for rank 2 and rank 0's one, passing through, start together.
  // Their packets alternate, so half of rank 0's have passed after as many slots as its message has packets.
  constexpr std::int64_t kPackets = 64;  // of a block
  ScheduleBuilder builder({CollectiveKind::kAllGather, 3, 0}, {3, 2, {}, false}, "all to all others");
  for (std::uint32_t r = 0; r < 3; ++r) {
    const PieceRange block{Buffer::kInput, 2 * r, 2};
    builder.copy(r, block, {Buffer::kOutput, 2 * r, 2});
    for (const std::uint32_t peer : {(r + 2) % 3, (r + 1) % 3}) {
      const std::uint32_t parts = r == 1 ? 2 : 1;
      for (std::uint32_t i = 0; i < parts; ++i) {
        builder.send(r, peer, {Buffer::kInput, 2 * r + i, 2 / parts});
        builder.recv(peer, r, {Buffer::kOutput, 2 * r + i, 2 / parts});
      }
    }
  }
  const Plan plan = bind(std::move(builder), 3 * kPackets * 256);
  const Topology line = make("line:3", 1e9, 100e-9);
  const SimulationResult result = run(plan, line, {.model = kPacket, .head_flit = Bytes{0}, .timeline = true});
  std::vector<std::int64_t> passing;
  for (const LinkInterval& bar : result.timeline) {
    if (line.link(bar.link).from == 1 && line.link(bar.link).to == 2 && plan.schedule().rank_of(bar.op) == 0) {
      passing.push_back(bar.begin.count);
    }
  }
  ASSERT_EQ(passing.size(), kPackets);
  EXPECT_NEAR(static_cast<double>(passing[kPackets / 2]), kPackets * 256.0 * kNs, 2 * 256.0 * kNs);
}

TEST(FluidModel, ThreeFlowsOverAParkingLot) {
  // 0 -> 3 (L = 600 KB) over three links, 0 -> 2 and 0 -> 1 (200 KB each) beside it: the first link has three flows.
  // Thirds of 1 GB/s until both short ones end at 600 us; then 400 KB alone: 400 us. Latency 3 us.
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 4, 0}, {1, 3, {1, 1, 1}, false}, "lot");
  builder.copy(0, {Buffer::kInput, 0, 3}, {Buffer::kOutput, 0, 3});
  builder.send(0, 3, {Buffer::kInput, 0, 3});
  builder.recv(3, 0, {Buffer::kOutput, 0, 3});
  builder.send(0, 2, {Buffer::kInput, 0}, {.channel = 1});
  builder.recv(2, 0, {Buffer::kOutput, 0}, {.channel = 1});
  builder.send(0, 1, {Buffer::kInput, 1}, {.channel = 1});
  builder.recv(1, 0, {Buffer::kOutput, 1}, {.channel = 1});
  builder.send(3, 2, {Buffer::kOutput, 1, 2}, {.channel = 2});
  builder.recv(2, 3, {Buffer::kOutput, 1, 2}, {.channel = 2});
  builder.send(3, 1, {Buffer::kOutput, 0}, {.channel = 2});
  builder.recv(1, 3, {Buffer::kOutput, 0}, {.channel = 2});
  builder.send(3, 1, {Buffer::kOutput, 2}, {.channel = 2});
  builder.recv(1, 3, {Buffer::kOutput, 2}, {.channel = 2});
  const Plan plan = bind(std::move(builder), 600000);
  // Back from rank 3 at 1003 us, all over its link: 400 KB, 200 KB and 200 KB in thirds. The two of 200 KB end at 600
  // us, the one of 400 KB 200 us later, one latency away. (The two need two latencies and end earlier.)
  EXPECT_EQ(picos(plan, make("line:4", 1e9, 1e-6), {.model = kFluid}), (1000 + 3 + 600 + 200 + 1) * kUs);
}

TEST(FluidModel, IsGivenUpWhereTooManyRatesAreSet) {
  const Topology one = path({{1e9, 1e-6}});
  const Plan plan = transfer(100000, 1000);  // a flow after another, a hundred of them
  EXPECT_TRUE(simulate(plan, one, {.model = kFluid, .fluid_rates_max = 100}));
  const Result<SimulationResult> result = simulate(plan, one, {.model = kFluid, .fluid_rates_max = 20});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text,
            "'transfer' of 100000B: at 20 us of simulated time (flows then: 1) rates have been set 21 times, "
            "at most 20 in the fluid model; take a smaller size, longer segments or another model");
}

TEST(FluidModel, SpareCapacityGoesToWhoCanUseIt) {
  // Two flows leave rank 0 (4 GB/s to the switch): one goes on to a link of 1 GB/s, the other to one of 10 GB/s.
  // Max-min: 1 GB/s and 3 GB/s. 300 KB to the slow one take 300 us, 300 KB to the fast one 100 us.
  TopologyBuilder builder("fork");
  const VertexId root = builder.add_vertex("root", VertexKind::kNpu);
  const VertexId fork = builder.add_vertex("fork", VertexKind::kSwitch);
  const VertexId slow = builder.add_vertex("slow", VertexKind::kNpu);
  const VertexId fast = builder.add_vertex("fast", VertexKind::kNpu);
  builder.add_cable(root, fork, {4e9}, {0});
  builder.add_cable(fork, slow, {1e9}, {0});
  builder.add_cable(fork, fast, {10e9}, {0});
  const Topology topology = *std::move(builder).build();
  ScheduleBuilder star({CollectiveKind::kBroadcast, 3, 0}, {}, "star");
  star.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (const std::uint32_t r : {1U, 2U}) {
    star.send(0, r, {Buffer::kInput, 0});
    star.recv(r, 0, {Buffer::kOutput, 0});
  }
  const SimulationResult result = run(bind(std::move(star), 300000), topology, {.model = kFluid, .timeline = true});
  EXPECT_EQ(result.time.count, 300 * kUs);
  for (const LinkInterval& bar : result.timeline) {
    if (topology.link(bar.link).to == fast) {
      EXPECT_EQ(bar.end.count, 100 * kUs);
    }
  }
}

TEST(FluidModel, NearlyEqualLinksKeepTheirOwnRates) {
  // Links of 1 and 1.0005 GB/s behind a fast one: 600,300 B take 600.3 us and 600 us.
  TopologyBuilder network("fork");
  const VertexId fork = network.add_vertex("fork", VertexKind::kSwitch);
  for (const double rate : {10e9, 1e9, 1.0005e9}) {
    network.add_cable(network.add_vertex(fmt::format("{}", network.vertex_count()), VertexKind::kNpu), fork, {rate},
                      {0});
  }
  const Topology topology = *std::move(network).build();
  ScheduleBuilder star({CollectiveKind::kBroadcast, 3, 0}, {}, "star");
  star.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  for (const std::uint32_t r : {1U, 2U}) {
    star.send(0, r, {Buffer::kInput, 0});
    star.recv(r, 0, {Buffer::kOutput, 0});
  }
  const SimulationResult result = run(bind(std::move(star), 600300), topology, {.model = kFluid, .timeline = true});
  EXPECT_EQ(result.time.count, 600300 * kNs);
  EXPECT_EQ(result.timeline.front().end.count, 600 * kUs);
}

TEST(FluidModel, FlowsThatEndNearlyTogetherAreKeptApart) {
  // 10,000,004 B to rank 1 and 10,000,000 B to rank 2 at 1 GB/s each; the last 4 B go on from 1 to 2 afterwards.
  TopologyBuilder network("fork");
  const VertexId fork = network.add_vertex("fork", VertexKind::kSwitch);
  for (const double rate : {10e9, 1e9, 1e9}) {
    network.add_cable(network.add_vertex(fmt::format("{}", network.vertex_count()), VertexKind::kNpu), fork, {rate},
                      {0});
  }
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 3, 0}, {1, 2, {2500000, 1}, false}, "fork");
  builder.copy(0, {Buffer::kInput, 0, 2}, {Buffer::kOutput, 0, 2});
  builder.send(0, 1, {Buffer::kInput, 0, 2});
  builder.recv(1, 0, {Buffer::kOutput, 0, 2});
  builder.send(0, 2, {Buffer::kInput, 0});
  builder.recv(2, 0, {Buffer::kOutput, 0});
  builder.send(1, 2, {Buffer::kOutput, 1});
  builder.recv(2, 1, {Buffer::kOutput, 1});
  const Plan plan = bind(std::move(builder), 10000004);
  EXPECT_EQ(picos(plan, *std::move(network).build(), {.model = kFluid}), 10000008 * kNs);
}

TEST(FluidModel, OverheadDelaysAFlow) {
  const Topology two = path({{1e9, 1e-6}, {1e9, 1e-6}});
  EXPECT_EQ(picos(transfer(100000, 50000), two, {.model = kFluid, .per_message_overhead = Seconds{5e-6}}),
            (2 * (5 + 50) + 2) * kUs);
}

// It would take minutes and more.
TEST(Options, MorePassagesThanCanBeSimulatedAreRefused) {
  constexpr std::int64_t kTiB = std::int64_t{1} << 40;
  const Topology three = path({{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 1e-6}});
  const auto refusal = [&](NetworkModel model, std::int64_t segment) {
    const Result<SimulationResult> result = simulate(transfer(kTiB, segment), three, {.model = model});
    EXPECT_TRUE(!result && result.error().code == Code::kResourceExhausted) << name_of(model);
    return result ? "" : result.error().text;
  };
  EXPECT_EQ(refusal(kMessage, 4096),
            "'transfer' of 1TiB: segments of 4KiB would enter links 805306368 times, the message model simulates at "
            "most 134217728; take a smaller size, longer segments or another model");
  EXPECT_EQ(refusal(kPacket, kTiB),
            "'transfer' of 1TiB: packets of 256B would enter links 12884901888 times, the packet model simulates at "
            "most 268435456; take a smaller size or another model");
  EXPECT_EQ(refusal(kFluid, 65536),
            "'transfer' of 1TiB: segments of 64KiB would enter links 50331648 times, the fluid model simulates at most "
            "4194304; take a smaller size, longer segments or another model");
  EXPECT_TRUE(simulate(transfer(kTiB, kTiB / 64), three, {.model = kMessage}));
}

TEST(Options, WithoutSenseAreRefused) {
  const Plan plan = transfer(4096);
  const Topology two = make("line:2", 1e9, 1e-6);
  const auto code = [&](const SimulateOptions& options) {
    const auto result = simulate(plan, two, options);
    return result ? Code::kInternal : result.error().code;
  };
  EXPECT_EQ(code({.packet_payload = Bytes{0}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.head_flit = Bytes{-1}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.per_message_overhead = Seconds{-1}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.copy_rate = BytesPerSecond{0.5}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.reduce_rate = BytesPerSecond{-1}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.model = kFluid, .store_and_forward = true}), Code::kUnsupported);
}

}  // namespace
}  // namespace hocket

// What holds for every simulation: random small networks x random schedules x random options. Never below the bound
// (simulate() refuses), never longer than one thing after another, no link carries two things at once, bytes are
// conserved, and a second run is the same to the byte. A failure prints the round, which is the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "simulator/simulator.h"
#include "support/small_graphs.h"
#include "support/small_schedules.h"
#include "topology/route.h"

namespace hocket {
namespace {

SimulateOptions random_options(Random& random) {
  SimulateOptions options{.model = kNetworkModels[random.below(kNetworkModels.size())], .timeline = true};
  options.packet_payload = {static_cast<std::int64_t>(64U << random.below(4))};
  options.head_flit = {static_cast<std::int64_t>(random.below(3) * 16)};
  options.tcp_chunk = {static_cast<std::int64_t>(random.chance(0.5) ? 1000 : 16384)};
  const bool queues = options.model == NetworkModel::kMessage || options.model == NetworkModel::kPacket;
  options.store_and_forward = queues && random.chance(0.3);
  if (random.chance(0.3)) options.per_message_overhead = Seconds{1e-9 * static_cast<double>(random.below(5000))};
  if (random.chance(0.3)) options.copy_rate = {1e8 * static_cast<double>(1 + random.below(50))};
  if (random.chance(0.3)) options.reduce_rate = {1e8 * static_cast<double>(1 + random.below(50))};
  return options;
}

struct Totals {
  std::int64_t payload_hops = 0;  // bytes x links, without head flits
  std::uint64_t messages = 0;
  std::uint64_t segments = 0;
  double serial_s = 0;  // everything one after another
};

Totals totals_of(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  Totals totals;
  Router router(topology);
  const Schedule& schedule = plan.schedule();
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    const auto bytes = static_cast<double>(plan.bytes(id));
    const double segments = plan.segments(id);
    if (!op.sends()) {
      const double rate = op.combines() ? options.reduce_rate.value : options.copy_rate.value;
      if (rate > 0) totals.serial_s += bytes / rate + segments * 1e-12;
      continue;
    }
    ++totals.messages;
    totals.segments += plan.segments(id);
    totals.serial_s += segments * options.per_message_overhead.value;
    const bool chunks = options.model == NetworkModel::kTcp;
    const double payload = static_cast<double>(chunks ? options.tcp_chunk.count : options.packet_payload.count);
    const bool cut = chunks || options.model == NetworkModel::kPacket;
    const double packets = cut ? segments + bytes / payload : segments;
    const double heads =
        options.model == NetworkModel::kPacket ? packets * static_cast<double>(options.head_flit.count) : 0;
    const std::vector<LinkId> route =
        router.route(topology.vertex_of(schedule.rank_of(id)), topology.vertex_of(op.peer), op.channel).value();
    for (const LinkId link : route) {
      totals.payload_hops += plan.bytes(id);
      totals.serial_s += (bytes + heads) / topology.link(link).bandwidth.value + packets * 1e-12;
      totals.serial_s += packets * topology.link(link).latency.value;
    }
  }
  return totals;
}

void check_links(const SimulationResult& result, const Topology& topology) {
  std::vector<std::vector<LinkInterval>> bars(topology.links().size());
  for (const LinkInterval& bar : result.timeline) bars[bar.link].push_back(bar);
  for (LinkId link = 0; link < bars.size(); ++link) {
    EXPECT_LE(result.link_busy[link], result.time);
    EXPECT_GE(result.link_busy[link], transfer_time({result.link_bytes[link]}, topology.link(link).bandwidth));
    std::stable_sort(bars[link].begin(), bars[link].end(),
                     [](const LinkInterval& a, const LinkInterval& b) { return a.begin < b.begin; });
    Picos free;
    for (const LinkInterval& bar : bars[link]) {
      EXPECT_LE(bar.begin, bar.end);
      if (result.model != NetworkModel::kFluid) {
        EXPECT_GE(bar.begin, free) << "link " << link;
      }
      free = std::max(free, bar.end);
    }
    EXPECT_LE(free, result.time);
  }
}

void expect_same(const SimulationResult& a, const SimulationResult& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.link_bytes, b.link_bytes);
  EXPECT_EQ(a.link_busy, b.link_busy);
  EXPECT_TRUE(std::equal(a.timeline.begin(), a.timeline.end(), b.timeline.begin(), b.timeline.end(),
                         [](const LinkInterval& x, const LinkInterval& y) {
                           return x.link == y.link && x.op == y.op && x.begin == y.begin && x.end == y.end;
                         }));
}

void check_round(std::uint64_t seed) {
  Random random(seed);
  auto verified = prove(test::random_schedule(random).value());
  ASSERT_TRUE(verified) << verified.error().text;
  const Collective collective = verified->schedule().collective();
  const Topology topology =
      random_small_graph(collective.ranks, static_cast<std::uint32_t>(random.below(5)), random.chance(0.5), seed);
  std::int64_t count = random.chance(0.1) ? 0 : static_cast<std::int64_t>(random.below(20000));
  if (is_blocked(collective.kind)) count *= collective.ranks;
  const Division& division = verified->schedule().division();
  if (division.uniform) count -= count % division.pieces();
  const Plan plan = Plan::bind(*verified, {collective, count, DataType::kF32, ReduceOp::kSum},
                               {static_cast<std::int64_t>(256 + random.below(100000))})
                        .value();
  const SimulateOptions options = random_options(random);
  const Result<SimulationResult> result = simulate(plan, topology, options);
  ASSERT_TRUE(result) << result.error().text;
  const Totals totals = totals_of(plan, topology, options);
  EXPECT_EQ(result->messages, totals.messages);
  EXPECT_EQ(result->segments, totals.segments);
  EXPECT_LE(to_seconds(result->time).value, totals.serial_s * (1 + 1e-9) + 1e-12);
  std::int64_t carried = 0;
  for (const std::int64_t bytes : result->link_bytes) carried += bytes;
  if (options.model == NetworkModel::kPacket) {
    EXPECT_GE(carried, totals.payload_hops);
  } else {
    EXPECT_EQ(carried, totals.payload_hops);
  }
  check_links(*result, topology);
  const Result<SimulationResult> again = simulate(plan, topology, options);
  ASSERT_TRUE(again);
  expect_same(*result, *again);
}

TEST(SimulatorInvariants, HoldOnRandomNetworksAndSchedules) {
  const char* scale = std::getenv("HOCKET_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::uint64_t rounds = 3000 * static_cast<std::uint64_t>(scale != nullptr ? std::max(1, std::atoi(scale)) : 1);
  for (std::uint64_t seed = 1; seed <= rounds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    check_round(seed);
  }
}

}  // namespace
}  // namespace hocket

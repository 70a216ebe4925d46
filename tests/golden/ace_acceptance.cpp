// What a re-implementation of ACE must show: bytes sent and read, counted from the schedule and by the run; a memory
// sweep with its knee; an exploration that rises and flattens; an engine near the ideal endpoint. Bit equality of the
// executed schedule is tests/conformance, where hierarchical_two_way runs like every algorithm.
#include <gtest/gtest.h>

#include "simulator/endpoint_costs.h"
#include "support/step_world.h"

namespace hocket {
namespace {

using test::all_reduce_node;
using test::StepWorld;
using test::workload_of;

struct Shape {
  double l, v, h;
  [[nodiscard]] std::string words() const { return fmt::format("ace:{}x{}x{}", l, v, h); }
  /// Bytes sent per byte of payload: both local phases, and all-reduces of the shard.
  [[nodiscard]] double sent() const { return 2 * (l - 1) / l + 2 * (v - 1) / v / l + 2 * (h - 1) / h / l; }
};

constexpr std::int64_t kBytes = 4 << 20;

TEST(AceAcceptance, BytesSentFollowFromTheSchedule) {
  for (const Shape s : {Shape{4, 2, 2}, Shape{4, 4, 2}, Shape{4, 4, 4}, Shape{4, 8, 4}, Shape{2, 3, 5}}) {
    const StepWorld world(s.words());
    const StepResult r = world.run(workload_of({all_reduce_node(kBytes)}), "ace");
    EXPECT_NEAR(r.sent_bytes, s.sent() * (kBytes + r.padded_bytes), 0.01 * kBytes) << s.words();
    if (r.padded_bytes == 0) {
      EXPECT_EQ(r.sent_bytes, s.sent() * kBytes) << s.words();
    }
    EXPECT_EQ(r.network_bytes, r.sent_bytes * s.l * s.v * s.h);
  }
}

TEST(AceAcceptance, BytesReadPerByteSent) {
  const StepWorld world("ace:4x4x4");
  const Workload one = workload_of({all_reduce_node(kBytes)});
  const StepResult ace = world.run(one, "ace");
  const StepResult base = world.run(one, "comm_opt");
  EXPECT_EQ(ace.memory_bytes_read, kBytes);
  EXPECT_EQ(ace.memory_bytes_written, kBytes);
  EXPECT_EQ(ace.memory_bytes_read / ace.sent_bytes, 1 / 2.25);
  // 3.625 N: the last local sum feeds several sends, so it is not fused with one of them.
  EXPECT_EQ(base.memory_bytes_read, 3.625 * kBytes);
  EXPECT_EQ(base.memory_bytes_read / ace.memory_bytes_read, 3.625);
  EXPECT_EQ(world.run(one, "ideal").memory_bytes_read, 0);
}

TEST(AceAcceptance, OneRingReadsThreeBytesForTwoSent) {
  Platform p = platform_from_words("ace:4x4x4").value();
  p.network.topology = "ring:8";
  StepWorld world(p);
  world.algorithm = "ring";
  const StepResult r = world.run(workload_of({all_reduce_node(kBytes)}), "comm_opt");
  EXPECT_EQ(r.sent_bytes, 2.0 * kBytes * 7 / 8);
  EXPECT_EQ(r.memory_bytes_read, 3.0 * kBytes * 7 / 8);
}

TEST(AceAcceptance, CountedFromTheScheduleAsByTheRun) {
  const StepWorld world("ace:4x4x4");
  const Collective all{CollectiveKind::kAllReduce, 64, 0};
  const Plan plan = Plan::bind(world.chooser()(all).value(), {all, kBytes / 4, DataType::kF32, ReduceOp::kSum}).value();
  for (const std::string_view name : {"ace", "comm_opt", "ideal"}) {
    const CommunicationEngine& engine = *world.platform.engine(name).value();
    const StepResult r = world.run(workload_of({all_reduce_node(kBytes)}), engine);
    for (const std::uint32_t rank : {0U, 17U, 63U}) {
      const EndpointTraffic t = endpoint_traffic(plan, world.topology, engine.kind, rank);
      EXPECT_EQ(static_cast<double>(t.sent), r.sent_bytes);
      EXPECT_EQ(static_cast<double>(t.read), r.memory_bytes_read);
      EXPECT_EQ(static_cast<double>(t.written), r.memory_bytes_written);
    }
  }
}

double network_rate(const StepWorld& world, const CommunicationEngine& engine) {
  const StepResult r = world.run(workload_of({all_reduce_node(16 << 20)}), engine);
  return r.sent_bytes / to_seconds(r.time).value;
}

TEST(AceAcceptance, TheMemoryThatEachNeeds) {
  const StepWorld world("ace:4x4x4");
  const double ideal = network_rate(world, *world.platform.engine("ideal").value());
  CommunicationEngine ace = *world.platform.engine("ace").value();
  CommunicationEngine base = *world.platform.engine("no_overlap").value();
  double last_ace = 0;
  double last_base = 0;
  for (const double memory : {64e9, 128e9, 256e9, 450e9, 900e9}) {
    ace.memory_bandwidth = Figure{memory, ""};
    base.memory_bandwidth = Figure{memory, ""};
    const double a = network_rate(world, ace);
    const double b = network_rate(world, base);
    EXPECT_GE(a, 0.99 * last_ace);
    EXPECT_GE(b, 0.99 * last_base);
    // No more than its reads allow: 2.25 sent for 1, and for 1.611.
    EXPECT_LE(a, memory * 2.25 * 1.001);
    EXPECT_LE(b, memory * 2.25 / 3.625 * 1.001);
    last_ace = a;
    last_base = b;
  }
  ace.memory_bandwidth = Figure{128e9, ""};
  base.memory_bandwidth = Figure{450e9, ""};
  EXPECT_GE(network_rate(world, ace), 0.85 * ideal);
  EXPECT_GE(network_rate(world, base), 0.85 * ideal);
  base.memory_bandwidth = Figure{128e9, ""};
  EXPECT_LE(network_rate(world, base), 0.3 * ideal);
}

TEST(AceAcceptance, MoreMemoryAndMachinesNeverHurtMuchAndFlattenOut) {
  const StepWorld world("ace:4x4x4");
  CommunicationEngine ace = *world.platform.engine("ace").value();
  for (const double machines : {4.0, 8.0, 16.0, 20.0}) {
    double last = 0;
    for (const double sram : {1.0, 2.0, 4.0, 8.0}) {
      ace.sram = Figure{sram * (1 << 20), ""};
      ace.machines = Figure{machines, ""};
      const double rate = network_rate(world, ace);
      EXPECT_GE(rate, 0.98 * last) << sram << " MiB, " << machines << " machines";
      last = rate;
    }
  }
}

// One rank for all and all ranks give the same picoseconds, on every engine.
TEST(AceAcceptance, FoldedEqualsUnfolded) {
  for (const std::string words : {"ace:4x2x2", "ace:2x3x4", "ace:4x4x2"}) {
    const StepWorld world(words);
    const Workload w = workload_of({test::kernel_node(1e9, 4e6), all_reduce_node(300000, {0}),
                                    test::kernel_node(1e9, 9e6, {0}), all_reduce_node(1 << 20, {2})});
    for (const CommunicationEngine& engine : world.platform.engines) {
      const StepResult folded = world.run(w, engine, {.steps = 2});
      const StepResult all = world.run(w, engine, {.steps = 2, .fold = false});
      EXPECT_EQ(folded.simulated, 1U) << words;
      EXPECT_EQ(all.simulated, world.topology.rank_count());
      EXPECT_EQ(folded.time, all.time) << words << " " << engine.name;
      EXPECT_EQ(folded.exposed, all.exposed) << words << " " << engine.name;
      EXPECT_EQ(folded.compute_busy, all.compute_busy) << words << " " << engine.name;
      EXPECT_EQ(folded.network_bytes, all.network_bytes) << words << " " << engine.name;
      EXPECT_EQ(folded.memory_bytes_read, all.memory_bytes_read) << words << " " << engine.name;
    }
  }
}

}  // namespace
}  // namespace hocket

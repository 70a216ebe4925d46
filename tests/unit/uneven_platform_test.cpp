// Platforms whose npus or links are not alike: read and written, checked, and slower by the closed form.
#include <gtest/gtest.h>

#include "exchange/platform_yaml.h"
#include "platform/fields.h"
#include "platform/set_field.h"
#include "support/graph_world.h"
#include "workload/parallel.h"

namespace hocket {
namespace {

using test::GraphWorld;

const std::string kUneven = R"(hocket: platform
name: "uneven"
network:
  topology: "ring:4"
  links: [{bandwidth: 1GB/s, latency: 1ns}]
  scale: ["0-1=0.5"]
endpoint:
  compute_units: 1
  memory_bandwidth: 1000000GB/s
  rates: {f16: 1TFLOPS, f32: 1TFLOPS}
exceptions:
  - ranks: [3, 2]
    rates: {f16: {value: 0.25TFLOPS, source: "measured"}}
engines: [{kind: ideal}]
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kUneven;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Platform uneven() { return read_platform(kUneven, "p.yaml").value(); }

TEST(UnevenPlatforms, RanksHaveWhatTheFileSays) {
  const Platform p = uneven();
  const auto rate = [&p](std::uint32_t rank, DataType type) {
    return p.endpoint_of(rank).rates[static_cast<std::size_t>(type)]->value;
  };
  EXPECT_EQ(rate(0, DataType::kF16), 1e12);
  EXPECT_EQ(rate(2, DataType::kF16), 0.25e12);
  EXPECT_EQ(rate(3, DataType::kF16), 0.25e12);
  EXPECT_EQ(rate(3, DataType::kF32), 1e12);  // not said: as the others
  const Topology topology = p.build_topology().value();
  EXPECT_EQ(topology.link(0).bandwidth.value, 0.5e9);
}

TEST(UnevenPlatforms, AreWrittenAsTheyWereRead) {
  const std::string text = write_platform(uneven()).value();
  const auto again = read_platform(text, "again.yaml");
  ASSERT_TRUE(again) << again.error().text << "\n" << text;
  EXPECT_EQ(write_platform(*again).value(), text);
  EXPECT_EQ(again->network.scales, std::vector<std::string>{"0-1=0.5"});
  EXPECT_EQ(again->exceptions[0].ranks, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(again->endpoint_of(2).rates[static_cast<std::size_t>(DataType::kF16)]->source, "measured");
}

TEST(UnevenPlatforms, EveryFieldCanBeSet) {
  Platform p = uneven();
  ASSERT_TRUE(set_field(p, "exceptions.0.rates.f16", "0.5TFLOPS"));
  EXPECT_EQ(p.endpoint_of(3).rates[static_cast<std::size_t>(DataType::kF16)]->value, 0.5e12);
}

TEST(UnevenPlatforms, WhatCannotBeIsRefused) {
  const auto expect_refused = [](const std::string& text, const std::string& words) {
    const auto read = read_platform(text, "p.yaml");
    ASSERT_FALSE(read) << words;
    EXPECT_NE(read.error().text.find(words), std::string::npos) << read.error().text;
    EXPECT_EQ(exit_code(read.error().code), 2);
  };
  expect_refused(with("ranks: [3, 2]", "ranks: [3, 4]"), "an exception for rank 4, there are 4");
  expect_refused(with("ranks: [3, 2]", "ranks: [3, 3]"), "two exceptions for rank 3");
  expect_refused(with("ranks: [3, 2]", "ranks: [x]"), "p.yaml:12:13: 'x' is no rank");
  expect_refused(with("  - ranks: [3, 2]\n    rates", "  - rates"), "no list 'ranks'");
  expect_refused(with("rates: {f16: {value", "rate: {f16: {value"), "unknown key 'rate', did you mean 'rates'?");
  expect_refused(with("0-1=0.5", "0-2=0.5"), "0-2");
  expect_refused(with("scale: [\"0-1=0.5\"]", "break: 7"), "'break' is not a list of words");
}

/// Matrices of 2^20 multiply-adds, the same on every rank; then an all-reduce.
TaskGraph work(std::uint32_t ranks) {
  Task gemm{.name = "gemm", .place = "node 0", .compute = {2e9, DataType::kF16, 0, {}}};
  Task sum{.name = "sum", .place = "node 1"};
  sum.collective = TaskCollective{{CollectiveKind::kAllReduce, {4000000}, DataType::kF32}, 0};
  sum.after = {0};
  TaskGraph graph = test::graph_with(std::vector<std::vector<Task>>(ranks, {gemm, sum}));
  graph.programs.resize(1);
  graph.program_of.assign(ranks, 0);
  return graph;
}

// 2 ms on two ranks, 8 ms on the slow ones, for which all others wait; the ring's slow link then doubles the sum.
TEST(UnevenPlatforms, TheSlowestRankAndLinkSayHowLongItTakes) {
  const auto time = [](const Platform& p) { return to_seconds(GraphWorld(p).run(work(4)).step.time).value; };
  Platform p = uneven();
  const double both = time(p);
  p.network.scales.clear();
  const double slow_ranks = time(p);
  p.exceptions.clear();
  const double even = time(p);
  EXPECT_NEAR(even, 2e-3 + 1.5 * 4e6 / 1e9, 0.1e-3);
  EXPECT_NEAR(slow_ranks, even + 6e-3, 1e-6);
  EXPECT_NEAR(both, slow_ranks + 1.5 * 4e6 / 1e9, 0.2e-3);
}

}  // namespace
}  // namespace hocket

// Networks fitted from times: figures that times were made from come back, also through the simulator, under noise and
// outliers; the held-out check sees a model that does not hold; what cannot be fitted is refused.
#include "platform/network_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "exchange/platform_yaml.h"
#include "planner/group_choice.h"
#include "platform/preset.h"
#include "simulator/simulator.h"
#include "topology/spec.h"
#include "verify/verify.h"

namespace hocket {
namespace {

constexpr double kBandwidth = 200e9, kLatency = 1e-6;

/// Times of a ring all-reduce on 8 ranks, from 1 KiB on; `change` gets the time and the number of the sample.
template <class Change>
std::vector<NetworkSample> samples_of(std::size_t sizes, const Change& change) {
  std::vector<NetworkSample> samples;
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::int64_t size = std::int64_t{1024} << i;
    const double time = 4 * 7 * kLatency + 2.0 * 7 / 8 * static_cast<double>(size) / kBandwidth;
    for (int half = 0; half < 2; ++half)
      samples.push_back({CollectiveKind::kAllReduce, 8, {size}, {change(time, samples.size())}});
  }
  return samples;
}

void expect_near_share(double value, double expected, double share) { EXPECT_NEAR(value, expected, share * expected); }

TEST(NetworkFits, ExactTimesGiveTheirFiguresBack) {
  const NetworkFit fit = fit_network(samples_of(20, [](double t, std::size_t) { return t; })).value();
  ASSERT_EQ(fit.collectives.size(), 1U);
  expect_near_share(fit.bandwidth.value, kBandwidth, 1e-9);
  expect_near_share(fit.latency.value, kLatency, 1e-9);
  expect_near_share(fit.collectives[0].busbw.value, kBandwidth, 1e-9);
  expect_near_share(fit.collectives[0].alpha.value, 28 * kLatency, 1e-9);
  EXPECT_EQ(fit.held_out.samples, 20U);
  EXPECT_LT(fit.held_out.most, 1e-9);
}

TEST(NetworkFits, NoiseAndOutliersMoveThemLittle) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  const NetworkFit fit = fit_network(samples_of(20, [&](double t, std::size_t i) {
                           return t * (1 + noise(random)) * (i % 7 == 3 ? 4 : 1);
                         })).value();
  expect_near_share(fit.bandwidth.value, kBandwidth, 0.03);
  expect_near_share(fit.latency.value, kLatency, 0.03);
  EXPECT_LT(fit.held_out.median, 0.05);
  EXPECT_GT(fit.held_out.most, 0.5);  // the outliers are there, and are shown
}

// A switch of protocols at 1 MiB is no straight line: the held-out sizes say so.
TEST(NetworkFits, WhatDoesNotFitIsSeen) {
  const NetworkFit fit =
      fit_network(samples_of(20, [](double t, std::size_t i) { return i < 20 ? t : 3 * t + 1e-3; })).value();
  EXPECT_GT(fit.held_out.most, 0.3);
}

// What the simulator says of rings on a star, a message a step, is what the fit takes times to be.
TEST(NetworkFits, TheSimulatorsRingsComeBack) {
  const Platform platform = platform_from_words("cpu:4").value();
  const GroupChooser choose = choose_for_groups({"ring"}, platform, platform.engines.front()).value();
  std::vector<NetworkSample> samples;
  for (const std::uint32_t ranks : {4U, 8U}) {
    const Topology topology =
        topology_from_spec(fmt::format("switch:{}", ranks), {.links = {{{kBandwidth}, {kLatency}}}}).value();
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
      const Collective collective{.kind = kind, .ranks = ranks};
      const VerifiedSchedule ring = choose(collective, topology, Bytes{1 << 20}).value();
      for (int i = 0; i < 12; ++i) {
        const BoundCollective what{.collective = collective, .count = std::int64_t{4096} << i};
        const Plan plan = Plan::bind(ring, what, Bytes{1 << 30}).value();
        samples.push_back({kind, ranks, what.bytes(), to_seconds(simulate(plan, topology).value().time)});
      }
    }
  }
  const NetworkFit fit = fit_network(samples).value();
  EXPECT_EQ(fit.collectives.size(), 4U);
  EXPECT_EQ(fit.ranks, 8U);
  expect_near_share(fit.bandwidth.value, kBandwidth, 0.02);
  expect_near_share(fit.latency.value, kLatency, 0.02);
  EXPECT_LT(fit.held_out.most, 0.02);
}

TEST(NetworkFits, PlatformsSayWhereTheirFiguresAreFrom) {
  const NetworkFit fit = fit_network(samples_of(20, [](double t, std::size_t) { return t; })).value();
  const Platform platform = with_network(platform_from_words("h100:8").value(), fit, "fitted from a.log, 20 rows");
  EXPECT_TRUE(validate(platform));
  EXPECT_EQ(platform.network.topology, "switch:8");
  EXPECT_EQ(platform.network.links[0].bandwidth.value, kBandwidth);
  EXPECT_EQ(platform.network.links[0].latency.source, "fitted from a.log, 20 rows");
  const std::string text = write_platform(platform).value();
  EXPECT_NE(text.find("latency: {value: 1000ns, source: \"fitted from a.log, 20 rows\"}"), std::string::npos) << text;
  EXPECT_EQ(read_platform(text, "p.yaml").value().build_topology().value().rank_count(), 8U);
}

TEST(NetworkFits, TooLittleIsRefused) {
  const auto few = fit_network(samples_of(3, [](double t, std::size_t) { return t; }));
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().text, "all_reduce on 8 ranks was measured for 3 sizes, a fit needs 4");
  EXPECT_EQ(exit_code(few.error().code), 2);
  const auto falling =
      fit_network(samples_of(8, [](double, std::size_t i) { return 1e-5 / static_cast<double>(i + 1); }));
  ASSERT_FALSE(falling);
  EXPECT_NE(falling.error().text.find("do not grow with size"), std::string::npos) << falling.error().text;
  EXPECT_FALSE(fit_network({}));
}

}  // namespace
}  // namespace hocket

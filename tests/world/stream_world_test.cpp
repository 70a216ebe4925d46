// The real engine and the real stream protocol (hello, segments, abort, bye) over pipes that take and give bytes in
// parts of any size: every seed ends, with right data or an error that names the cause. A failing seed prints its
// replay line.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "support/stream_world.h"

namespace hocket {
namespace {

using test::draw_stream_case;
using test::judge;
using test::run_streams;
using test::StreamOutcome;
using test::StreamScenario;

constexpr std::uint64_t kSeeds = 700;  // per scenario

class StreamWorld : public testing::TestWithParam<StreamScenario> {};

struct Probes {
  std::uint64_t partial_writes = 0;
  std::uint64_t split_headers = 0;
  std::uint64_t full_pipes = 0;
  std::uint64_t held = 0;
  std::uint64_t told = 0;
  std::uint64_t fetched = 0;
  std::uint64_t bounced = 0;
  std::uint64_t bounces_shared = 0;
  std::uint64_t bounces_sent = 0;
  std::uint64_t bounces_waited = 0;
  std::uint64_t by_further = 0;
  std::uint64_t one_shots = 0;
  std::uint64_t deaths = 0;
  std::uint64_t vanished = 0;
  std::array<std::uint64_t, test::kStreamCalls> deaths_in{};  // by call
  std::uint64_t failed = 0;

  void add(const StreamOutcome& o) {
    partial_writes += o.partial_writes;
    split_headers += o.split_headers;
    full_pipes += o.full_pipes;
    held += o.held;
    told += o.told;
    fetched += o.fetched;
    bounced += o.bounced;
    bounces_shared += o.bounces_shared;
    bounces_sent += o.bounces_sent;
    bounces_waited += o.bounces_waited;
    by_further += o.by_further;
    one_shots += o.one_shots;
    deaths += o.dead ? 1 : 0;
    vanished += o.vanished.size();
    if (o.dead) ++deaths_in[o.calls[*o.dead]];
    for (const auto& error : o.errors) failed += error ? 1 : 0;
  }
};

TEST_P(StreamWorld, EverySeedIsRightOrNamesTheCause) {
  const char* text = std::getenv("HOCKET_SEED");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::uint64_t chosen = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  Probes probes;
  for (std::uint64_t seed = chosen == 0 ? 1 : chosen; seed <= (chosen == 0 ? kSeeds : chosen); ++seed) {
    const test::SimulatedCase c = draw_stream_case(GetParam(), seed);
    const StreamOutcome outcome = run_streams(GetParam(), c);
    probes.add(outcome);
    ASSERT_EQ(judge(GetParam(), c, outcome), "")
        << "replay: HOCKET_SEED=" << seed << " test_world --gtest_filter=Scenarios/StreamWorld.*/"
        << test::name_of(GetParam());
  }
  if (chosen != 0) return;
  EXPECT_GE(probes.partial_writes, 1000U);
  EXPECT_GE(probes.split_headers, 1000U);
  EXPECT_GE(probes.full_pipes, 100U);
  EXPECT_GE(probes.held, 100U);
  EXPECT_GE(probes.fetched, 1000U);
  EXPECT_GE(probes.bounced, 1000U);
  EXPECT_GE(probes.bounces_shared, 100U);
  EXPECT_GE(probes.bounces_sent, 20U);
  EXPECT_GE(probes.bounces_waited, 100U);
  EXPECT_GE(probes.by_further, 100000U);
  EXPECT_GE(probes.one_shots, 100U);
  if (GetParam() == StreamScenario::kClean) return;
  EXPECT_GE(probes.failed, 300U);
  EXPECT_GE(probes.told, 20U);
  if (GetParam() == StreamScenario::kDeath) {
    EXPECT_GE(probes.deaths, 300U);
    EXPECT_GE(probes.vanished, 200U);
    for (const std::uint64_t in_one : probes.deaths_in) EXPECT_GE(in_one, 10U);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, StreamWorld,
                         testing::Values(StreamScenario::kClean, StreamScenario::kDeath, StreamScenario::kMismatch,
                                         StreamScenario::kSkip, StreamScenario::kOtherPlan),
                         [](const auto& param) { return std::string(test::name_of(param.param)); });

}  // namespace
}  // namespace hocket

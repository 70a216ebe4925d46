// The Chrome JSON of a simulation, read back by a JSON parser.
#include "simulator/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/small_schedules.h"

namespace hocket {
namespace {

Topology awkward_ring() {
  TopologyBuilder builder("awkward");
  for (const char* name : {"a\"b", "c\\d", "e\nf", "\xff\xfe"}) builder.add_vertex(name, VertexKind::kNpu);
  for (VertexId v = 0; v < 4; ++v) builder.add_link(v, (v + 1) % 4, {1e9}, {123e-12});
  return *std::move(builder).build();
}

SimulationResult simulated(const Plan& plan, const Topology& topology, std::size_t bars_max) {
  return simulate(plan, topology, {.timeline = true, .timeline_max = bars_max}).value();
}

Plan ring_plan() {
  const VerifiedSchedule verified = prove(test::ring_all_reduce(4, 1).value()).value();
  return Plan::bind(verified, {verified.schedule().collective(), 4096, DataType::kF32, ReduceOp::kSum}, {2048}).value();
}

TEST(Timeline, HasABarPerSegmentAndLink) {
  const Topology ring = awkward_ring();
  const Plan plan = ring_plan();
  const SimulationResult result = simulated(plan, ring, 1000);
  const nlohmann::json document = nlohmann::json::parse(chrome_timeline(result, plan, ring));
  std::size_t bars = 0;
  std::size_t names = 0;
  double end = 0;
  for (const nlohmann::json& event : document.at("traceEvents")) {
    if (event.at("ph") == "M") {
      ++names;
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    EXPECT_LT(event.at("tid").get<LinkId>(), ring.links().size());
    EXPECT_EQ(event.at("name").get<std::string>().substr(1, 4), " -> ");
    end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
    ++bars;
  }
  EXPECT_EQ(bars, result.segments);  // every route is one link
  EXPECT_EQ(names, 1 + ring.links().size());
  EXPECT_NEAR(end, static_cast<double>(result.time.count - 123) * 1e-6, 1e-9);
  EXPECT_EQ(document.at("otherData").at("bars_left_out"), "0");
}

TEST(Timeline, PicosecondsAreExact) {
  const Topology ring = awkward_ring();
  const Plan plan = ring_plan();
  SimulationResult result = simulated(plan, ring, 1);
  result.timeline[0].begin = Picos{(std::int64_t{1} << 61) + 1};
  result.timeline[0].end = Picos{(std::int64_t{1} << 61) + 1000002};
  const std::string text = chrome_timeline(result, plan, ring);
  EXPECT_NE(text.find("\"ts\":2305843009213.693953,\"dur\":1.000001,"), std::string::npos) << text;
}

TEST(Timeline, SaysWhatItLeftOut) {
  const Topology ring = awkward_ring();
  const Plan plan = ring_plan();
  const SimulationResult result = simulated(plan, ring, 5);
  EXPECT_EQ(result.timeline.size(), 5U);
  EXPECT_EQ(result.timeline_dropped, result.segments - 5);
  const nlohmann::json document = nlohmann::json::parse(chrome_timeline(result, plan, ring));
  EXPECT_EQ(document.at("otherData").at("bars_left_out"), std::to_string(result.segments - 5));
  EXPECT_EQ(document.at("traceEvents").at(0).at("args").at("name"),
            fmt::format("links ({} bars left out)", result.segments - 5));
}

}  // namespace
}  // namespace hocket

// Which schedule a collective of a step runs: the one whose chunks are fastest at the endpoints, not on the network
// alone.
#include <gtest/gtest.h>

#include "planner/step_choice.h"
#include "support/step_world.h"

namespace hocket {
namespace {

Workload lone_all_reduce(std::int64_t bytes) {
  return test::workload_of({{.name = "all_reduce",
                             .phase = StepPhase::kWeightGradient,
                             .collective = WorkCollective{CollectiveKind::kAllReduce, {bytes}, DataType::kF32}}});
}

std::int64_t time_of(const test::StepWorld& world, const CommunicationEngine& engine, const Workload& work,
                     const std::vector<std::string>& algorithms) {
  const StepMachine machine{world.platform, world.topology, engine};
  const auto result = simulate_step(work, machine, choose_schedules(machine, work, algorithms).value());
  EXPECT_TRUE(result) << result.error().text;
  return result ? result->time.count : 0;
}

TEST(EndpointChoice, IsNoSlowerThanRingAndDirectOnAnyEngine) {
  const test::StepWorld world("v100:8");
  bool engines_differ = false;
  for (const CommunicationEngine& engine : world.platform.engines) {
    const Workload work = lone_all_reduce(1 << 23);
    const std::int64_t chosen = time_of(world, engine, work, {});
    const std::int64_t ring = time_of(world, engine, work, {"ring"});
    const std::int64_t direct = time_of(world, engine, work, {"direct"});
    EXPECT_LE(static_cast<double>(chosen), 1.01 * static_cast<double>(std::min(ring, direct))) << engine.name;
    engines_differ = engines_differ || (engine.kind == EngineKind::kAce && direct < ring);
  }
  EXPECT_TRUE(engines_differ) << "nothing here tells endpoints from networks";
}

}  // namespace
}  // namespace hocket

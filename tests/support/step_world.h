// Small worlds for tests of training steps: a platform by words, a schedule by the name of its algorithm, workloads of
// one collective and one kernel. Ownership: a world owns its platform and network.
// Threading: one owner. Refuses: nothing; a broken world fails the test that asked for it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "algorithms/algorithm.h"
#include "platform/preset.h"
#include "simulator/step.h"

namespace hocket::test {

struct StepWorld {
  Platform platform;
  Topology topology;
  std::string algorithm = "hierarchical_two_way";

  explicit StepWorld(const std::string& words) : StepWorld(platform_from_words(words).value()) {}
  explicit StepWorld(Platform p) : platform(std::move(p)), topology(platform.build_topology().value()) {}

  [[nodiscard]] ScheduleChooser chooser() const {
    return [this](const Collective& collective) -> Result<VerifiedSchedule> {
      HOCKET_TRY_ASSIGN(const Algorithm* found, find_algorithm(algorithm));
      HOCKET_TRY_ASSIGN(Schedule schedule, found->plan({topology, collective}));
      return prove(std::move(schedule));
    };
  }
  [[nodiscard]] Result<StepResult> try_run(const Workload& workload, const CommunicationEngine& engine,
                                           const StepOptions& options = {}) const {
    return simulate_step(workload, {platform, topology, engine}, chooser(), options);
  }
  [[nodiscard]] StepResult run(const Workload& workload, const CommunicationEngine& engine,
                               const StepOptions& options = {}) const {
    const auto result = try_run(workload, engine, options);
    EXPECT_TRUE(result) << result.error().text;
    return result ? *result : StepResult{};
  }
  [[nodiscard]] StepResult run(const Workload& workload, std::string_view engine,
                               const StepOptions& options = {}) const {
    return run(workload, *platform.engine(engine).value(), options);
  }
};

inline WorkNode all_reduce_node(std::int64_t bytes, std::vector<NodeId> after = {}) {
  return {.name = "all_reduce",
          .phase = StepPhase::kWeightGradient,
          .collective = WorkCollective{CollectiveKind::kAllReduce, {bytes}, DataType::kF32},
          .after = std::move(after)};
}

inline WorkNode kernel_node(double flops, double memory_bytes, std::vector<NodeId> after = {}) {
  return {.name = "kernel", .compute = {flops, DataType::kF16, memory_bytes, {}}, .after = std::move(after)};
}

inline Workload workload_of(std::vector<WorkNode> nodes) { return {"test", "tests", std::move(nodes)}; }

}  // namespace hocket::test

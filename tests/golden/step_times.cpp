// Training steps of built-in workloads: times recorded when two simulators of steps, one for ranks that do the same and
// one for ranks that differ, agreed to the picosecond; some again when npus began to forward all-to-alls
// and algorithms to be chosen at the endpoints. Whoever changes the model on purpose records them again.
#include <gtest/gtest.h>

#include "planner/step_choice.h"
#include "platform/preset.h"
#include "simulator/step.h"
#include "workload/model.h"

namespace hocket {
namespace {

/// Two steps: picoseconds, and bytes that collectives read from the memory of a rank.
struct Recorded {
  std::string workload, platform, engine;
  std::int64_t time, compute, exposed, bytes_read;
};

class StepTimes : public ::testing::TestWithParam<Recorded> {};

TEST_P(StepTimes, AreThoseRecorded) {
  const Recorded& recorded = GetParam();
  const Platform platform = platform_from_words(recorded.platform).value();
  const Topology topology = platform.build_topology().value();
  const Workload workload = workload_from_model(recorded.workload, {.compute = platform.usual_type().value()}).value();
  const StepMachine machine{platform, topology, *platform.engine(recorded.engine).value()};
  const ScheduleChooser choose = choose_schedules(machine, workload, {}).value();
  for (const bool fold : {true, false}) {
    const auto result = simulate_step(workload, machine, choose, {.steps = 2, .fold = fold});
    ASSERT_TRUE(result) << result.error().text;
    EXPECT_EQ(result->time.count, recorded.time);
    EXPECT_EQ(result->compute_busy.count, recorded.compute);
    EXPECT_EQ(result->exposed.count, recorded.exposed);
    EXPECT_EQ(result->memory_bytes_read, static_cast<double>(recorded.bytes_read));
    if (result->simulated > 1 || topology.rank_count() > 8) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, StepTimes,
    ::testing::Values(Recorded{"resnet50", "ace:4x4x4", "ace", 15461751266, 15448807440, 12943826, 204023808},
                      Recorded{"resnet50", "ace:4x4x4", "comm_opt", 15687793606, 15674947266, 12846340, 739586304},
                      Recorded{"resnet50", "ace:4x4x4", "comp_opt", 15651698510, 15637316606, 14381904, 739586304},
                      Recorded{"resnet50", "ace:4x4x4", "no_overlap", 16984060744, 15441006884, 1543053860, 739586304},
                      Recorded{"resnet50", "ace:4x4x4", "ideal", 15452968628, 15441006884, 11961744, 0},
                      Recorded{"ncf", "v100:8", "units", 692704486, 120780210, 571924276, 138856032},
                      Recorded{"ncf", "v100:8", "dma", 673361464, 151505700, 521855764, 185141376},
                      Recorded{"ncf", "v100:8", "ace", 650518063, 94312579, 556205484, 52897472},
                      Recorded{"ncf", "v100:8", "ideal", 655136020, 86820002, 568316018, 0},
                      Recorded{"ncf", "tpu:4x4x4", "dma", 861885514, 93967806, 767917708, 238049280},
                      Recorded{"ncf", "tpu:4x4x4", "ace", 1083959340, 68534032, 1015425308, 52899840},
                      Recorded{"alexnet", "mi300x:8", "units", 2859632932, 1045069126, 1814563806, 1649443392},
                      Recorded{"alexnet", "mi300x:8", "dma", 2859632932, 987243676, 1872389256, 1710533888},
                      Recorded{"alexnet", "mi300x:8", "ace", 3984876593, 897653220, 3087223373, 488723968},
                      Recorded{"googlenet", "cpu:4", "units", 80937920470, 80902236622, 35683848, 125824896},
                      Recorded{"googlenet", "cpu:4", "ace", 80847906666, 80830958958, 16947708, 55922176},
                      Recorded{"dlrm", "h100:4", "units", 140730110, 61144406, 79585704, 79297024},
                      Recorded{"dlrm", "h100:4", "ace", 377082507, 44051409, 333031098, 46184448},
                      Recorded{"dlrm", "ace:2x2x2", "ace", 531436430, 210396042, 321040388, 46184448},
                      Recorded{"dlrm", "ace:2x2x2", "comm_opt", 582516336, 234763520, 347752816, 110527488},
                      Recorded{"dlrm", "ace:2x2x2", "no_overlap", 675531464, 202620268, 472911196, 110527488}));

}  // namespace
}  // namespace hocket

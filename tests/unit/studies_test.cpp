// What `hocket reproduce` judges by, and what it says without a study or with a wrong one.
#include <gtest/gtest.h>

#include "studies/multitree_published.h"
#include "studies/multitree_setup.h"
#include "studies/study.h"
#include "studies/systolic.h"
#include "studies/training_time.h"

namespace hocket {
namespace {

StudyRow row(std::optional<double> published, std::optional<double> ours, Band band) {
  return {.name = "row", .published = published, .ours = ours, .unit = "x", .band = band, .note = {}};
}

TEST(Studies, BandsJudge) {
  EXPECT_EQ(row(10, 10.9, Band::kTenPercent).pass(), true);
  EXPECT_EQ(row(10, 11.1, Band::kTenPercent).pass(), false);
  EXPECT_EQ(row(10, 8.9, Band::kTenPercent).pass(), false);
  EXPECT_EQ(row(10, 10.01, Band::kExact).pass(), false);
  EXPECT_EQ(row(10, 10, Band::kExact).pass(), true);
  EXPECT_EQ(row(10, 5, Band::kAtMost).pass(), true);
  EXPECT_EQ(row(10, 10.1, Band::kAtMost).pass(), false);
  EXPECT_EQ(row(10, 10, Band::kAtLeast).pass(), true);
  EXPECT_EQ(row(10, 9.9, Band::kAtLeast).pass(), false);
  EXPECT_EQ(row(10, 10, Band::kNone).pass(), std::nullopt);
  EXPECT_EQ(row(10, {}, Band::kTenPercent).pass(), std::nullopt);
  EXPECT_EQ(row({}, 10, Band::kTenPercent).pass(), std::nullopt);
  EXPECT_NEAR(*row(10, 9, Band::kNone).deviation(), -0.1, 1e-12);
}

TEST(Studies, AreListedByName) {
  ASSERT_EQ(studies().size(), 3U);
  EXPECT_EQ(studies()[0]->name, "ace");
  EXPECT_EQ(studies()[1]->name, "multitree");
  EXPECT_EQ(studies()[2]->name, "synthesis");
}

// The closed form of a ring: every step a packet train and one latency; additions of 128 B a cycle beside it.
TEST(Studies, RingOfTheSetupIsItsClosedForm) {
  MultitreeBench bench;
  const auto time = bench.time("torus:4x4", "ring", {2048 * kKiB}, false);
  ASSERT_TRUE(time) << time.error().text;
  EXPECT_EQ(time->count, 30 * (512 * 17 * 1000 + 150000));
  const auto total = bench.time("torus:4x4", "ring", {2048 * kKiB});
  ASSERT_TRUE(total);
  EXPECT_EQ(total->count - time->count, 15 * (131072 / 128) * 1000);
}

// By hand: a fold of 512 deep takes 2 * 32 + 32 + 512 - 2 = 606 cycles.
TEST(Studies, SystolicArraysTakeTheirFolds) {
  EXPECT_EQ(systolic_cycles(1, 32, 512), 606);
  EXPECT_EQ(systolic_cycles(33, 65, 512), 2 * 3 * 606);
  const std::vector<ModelLayer> one{fully_connected("fc", 512, 64)};
  // Forward 1 x 2 folds of 606; weights 16 x 2 folds of 95; the first layer needs no gradient of its input.
  EXPECT_EQ(systolic_step(one).count, (2 * 606 + 32 * 95) * 1000);
  const std::vector<ModelLayer> two{one[0], fully_connected("fc", 64, 32)};
  // 158; 2 folds of 95; 2 folds of 126.
  EXPECT_EQ(systolic_step(two).count - systolic_step(one).count, (158 + 2 * 95 + 2 * 126) * 1000);
}

TEST(Studies, TrainingSavesWhatTheAllReduceSaves) {
  const TrainingStep step{.compute = {600}, .ring = {400}, .best_earlier = {200}, .multitree = {100}};
  EXPECT_DOUBLE_EQ(step.saved_over(step.ring), 30);
  EXPECT_DOUBLE_EQ(step.saved_over(step.best_earlier), 12.5);
  ASSERT_EQ(trained_networks().size(), 7U);
  EXPECT_EQ(trained_networks()[0].gradients().count, 4 * 61090496);
}

}  // namespace
}  // namespace hocket

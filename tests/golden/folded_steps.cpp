// One rank for all against all ranks, on networks of every family up to 512 npus: wherever folding is proved, times,
// what compute and communication did when, events and traffic are the same; everywhere else all ranks are simulated.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <utility>

#include "support/step_world.h"

namespace hocket {
namespace {

using test::kernel_node;
using test::StepWorld;

Platform on_network(const std::string& words) {
  Platform p;
  p.name = words;
  p.network.topology = words;
  p.network.links = {{{50e9, ""}, {7e-7, ""}}};
  p.endpoint.compute_units = Figure{100, ""};
  p.endpoint.memory_bandwidth = Figure{1e12, ""};
  p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)] = Figure{1e12, ""};
  p.engines.push_back({.name = "kernels", .kind = EngineKind::kComputeUnits});
  p.engines.back().units = Figure{10, ""};
  p.engines.back().memory_bandwidth = Figure{3e11, ""};
  p.engines.push_back({.name = "ace", .kind = EngineKind::kAce});
  p.engines.back().machines = Figure{16, ""};
  p.engines.back().sram = Figure{double{1 << 22}, ""};
  p.engines.push_back({.name = "ideal", .kind = EngineKind::kIdeal});
  for (CommunicationEngine& engine : p.engines) {
    engine.chunk = Figure{double{1 << 18}, ""};
    engine.message = Figure{double{1 << 14}, ""};
  }
  return p;
}

WorkNode collective(CollectiveKind kind, std::int64_t bytes, std::vector<NodeId> after) {
  return {.name = std::string(name_of(kind)),
          .phase = StepPhase::kWeightGradient,
          .collective = WorkCollective{kind, {bytes}, DataType::kF32},
          .after = std::move(after)};
}

/// Kernels beside collectives of two sizes, and one that waits for both.
Workload two_of(CollectiveKind kind) {
  Workload w = test::workload_of({kernel_node(2e7, 3e6), collective(kind, 300000, {0}), kernel_node(5e6, 9e6, {0}),
                                  collective(kind, 500001, {2}), kernel_node(1e6, 1e6, {1, 3})});
  w.nodes[0].after_previous = {4};
  return w;
}

void expect_equal(const StepResult& folded, const StepResult& all) {
  EXPECT_EQ(folded.time.count, all.time.count);
  EXPECT_EQ(folded.compute_busy.count, all.compute_busy.count);
  EXPECT_EQ(folded.exposed_for, all.exposed_for);
  EXPECT_EQ(folded.network_bytes, all.network_bytes);
  EXPECT_EQ(folded.memory_bytes_read, all.memory_bytes_read);
  EXPECT_EQ(folded.memory_bytes_written, all.memory_bytes_written);
  EXPECT_EQ(folded.events * all.ranks, all.events);
  EXPECT_EQ(folded.event_sum * all.ranks, all.event_sum);
  ASSERT_EQ(folded.timeline.size(), all.timeline.size());
  for (std::size_t i = 0; i < all.timeline.size(); ++i) {
    EXPECT_EQ(folded.timeline[i].begin.count, all.timeline[i].begin.count);
    EXPECT_EQ(folded.timeline[i].end.count, all.timeline[i].end.count);
  }
}

struct Compared {
  std::size_t tried = 0, folded = 0;
};

constexpr std::array kAllKinds{CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                               CollectiveKind::kAllToAll};

/// What is compared: all there is, or for large networks an algorithm's all-reduce with the ace engine.
Compared compare(const std::string& words, const std::string& only = "") {
  const std::span<const CollectiveKind> kinds(kAllKinds.data(), only.empty() ? kAllKinds.size() : 1);
  const std::uint32_t steps = only.empty() ? 2 : 1;
  Compared compared;
  StepWorld world(on_network(words));
  for (const Algorithm* algorithm : algorithms()) {
    if (!only.empty() && algorithm->name != only) continue;
    world.algorithm = algorithm->name;
    for (const CollectiveKind kind : kinds) {
      if (!algorithm->supports({world.topology, {kind, world.topology.rank_count(), 0}}).empty()) continue;
      for (const CommunicationEngine& engine : world.platform.engines) {
        if (!only.empty() && engine.kind != EngineKind::kAce) continue;
        SCOPED_TRACE(fmt::format("{} {} {} {}", words, algorithm->name, name_of(kind), engine.name));
        const auto folded = world.try_run(two_of(kind), engine, {.steps = steps, .timeline = true});
        if (!folded && folded.error().code == Code::kUnsupported) continue;  // more phases than machines
        EXPECT_TRUE(folded) << folded.error().text;
        if (!folded) continue;
        ++compared.tried;
        if (folded->simulated > 1) break;
        ++compared.folded;
        const auto all = world.try_run(two_of(kind), engine, {.steps = steps, .fold = false, .timeline = true});
        EXPECT_TRUE(all) << all.error().text;
        if (all) expect_equal(*folded, *all);
      }
    }
  }
  return compared;
}

TEST(FoldedSteps, EqualAllRanksOnSmallNetworksOfEveryFamily) {
  for (const std::string words : {"ring:6", "torus:4x4", "torus:2x3x4", "hypercube:4", "full:6", "switch:8", "dgx1"}) {
    const Compared compared = compare(words);
    EXPECT_GE(3 * compared.folded, compared.tried) << words;
  }
  // Ranks in different places, or messages that meet on their way: none stands for another.
  for (const std::string words : {"fattree:4x2", "bigraph:2x4", "dragonfly:3x2x2", "boxes:2x4", "line:5", "mesh:3x3"}) {
    const Compared compared = compare(words);
    EXPECT_GT(compared.tried, 0U) << words;
    EXPECT_EQ(compared.folded, 0U) << words;
  }
  compare("random:8,3,1");  // whatever is folded there
}

TEST(FoldedSteps, EqualAllRanksUpTo512) {
  for (const auto& [words, algorithm] :
       std::vector<std::pair<std::string, std::string>>{{"ring:512", "ring"},
                                                        {"torus:8x8x8", "hierarchical_two_way"},
                                                        {"torus:16x32", "dimension_rings"},
                                                        {"hypercube:9", "recursive_doubling"},
                                                        {"full:128", "direct"},
                                                        {"switch:512", "halving_doubling"}}) {
    const Compared compared = compare(words, algorithm);
    EXPECT_GT(compared.folded, 0U) << words;
    EXPECT_EQ(compared.folded, compared.tried) << words;
  }
}

}  // namespace
}  // namespace hocket

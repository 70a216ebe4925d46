// Small worlds for tests of task graphs: a platform by words, schedules by the name of their algorithm, graphs with a
// program per rank and one division of all ranks. Ownership: a world owns its platform and network.
// Threading: one owner. Refuses: nothing; a broken world fails the test that asked for it.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "planner/group_choice.h"
#include "platform/preset.h"
#include "simulator/graph_step.h"

namespace hocket::test {

struct GraphWorld {
  Platform platform;
  Topology topology;
  std::vector<std::string> algorithms;

  explicit GraphWorld(const std::string& words, const std::string& algorithm = "")
      : GraphWorld(platform_from_words(words).value(), algorithm) {}
  explicit GraphWorld(Platform p, const std::string& algorithm = "ring")
      : platform(std::move(p)), topology(platform.build_topology().value()) {
    if (!algorithm.empty()) algorithms.push_back(algorithm);
  }

  [[nodiscard]] StepMachine machine(const CommunicationEngine& engine) const { return {platform, topology, engine}; }
  [[nodiscard]] GroupChooser chooser() const {
    return choose_for_groups(algorithms, platform, platform.engines.front()).value();
  }
  [[nodiscard]] Result<GraphResult> try_run(const TaskGraph& graph, const StepOptions& options = {}) const {
    return simulate_graph(graph, machine(platform.engines.front()), chooser(), options);
  }
  [[nodiscard]] GraphResult run(const TaskGraph& graph) const {
    const auto result = try_run(graph);
    EXPECT_TRUE(result) << result.error().text;
    return result ? *result : GraphResult{};
  }
  [[nodiscard]] GraphResult run(const TaskGraph& graph, std::string_view engine) const {
    const auto result = simulate_graph(graph, machine(*platform.engine(engine).value()), chooser());
    EXPECT_TRUE(result) << result.error().text;
    return result ? *result : GraphResult{};
  }
};

/// Rank r runs `tasks[r]`, its file is called "rank<r>".
inline TaskGraph graph_with(std::vector<std::vector<Task>> tasks) {
  TaskGraph graph{"test", "tests", {{"all", {std::vector<std::uint32_t>(tasks.size())}}}, {}, {}};
  std::iota(graph.divisions[0].groups[0].begin(), graph.divisions[0].groups[0].end(), 0U);
  for (std::uint32_t rank = 0; rank < tasks.size(); ++rank) {
    graph.programs.push_back({fmt::format("rank{}", rank), std::move(tasks[rank])});
    graph.program_of.push_back(rank);
  }
  return graph;
}

}  // namespace hocket::test

// Every algorithm in the table, on small topologies of every family, for every collective and two roots: what
// supports() accepts is planned, proved, and may run in place.
#include "algorithms/algorithm.h"

#include <gtest/gtest.h>

#include <set>

#include "topology/spec.h"
#include "verify/verify.h"

namespace hocket {
namespace {

Topology build(const std::string& spec) {
  auto topology = topology_from_spec(spec, {});
  EXPECT_TRUE(topology) << (topology ? "" : topology.error().text);
  return std::move(*topology);
}

std::string described(const Algorithm& algorithm, const PlanRequest& request) {
  return fmt::format("{} {} on {}, root {}", algorithm.name, name_of(request.collective.kind), request.topology.name(),
                     request.collective.root);
}

/// Returns whether the algorithm supports the request.
bool plan_and_prove(const Algorithm& algorithm, const PlanRequest& request) {
  const std::string why = algorithm.supports(request);
  if (!why.empty()) return false;
  auto schedule = algorithm.plan(request);
  EXPECT_TRUE(schedule) << described(algorithm, request) << ": " << (schedule ? "" : schedule.error().text);
  if (!schedule) return true;
  EXPECT_EQ(schedule->algorithm(), algorithm.name);
  const auto verified = prove(std::move(*schedule));
  EXPECT_TRUE(verified) << described(algorithm, request) << ": " << (verified ? "" : verified.error().text);
  if (verified) {
    EXPECT_EQ(verified->in_place(), may_alias(request.collective.kind)) << described(algorithm, request);
  }
  return true;
}

void plan_and_prove_all_kinds(const Topology& topology, std::set<std::string_view>& used) {
  const std::uint32_t ranks = topology.rank_count();
  for (const Algorithm* algorithm : algorithms()) {
    for (int kind = 0; kind < kCollectiveKinds; ++kind) {
      const auto word = static_cast<CollectiveKind>(kind);
      for (const std::uint32_t root : {0U, ranks - 1}) {
        if (root > 0 && !is_rooted(word)) continue;
        const Collective collective{.kind = word, .ranks = ranks, .root = root};
        if (plan_and_prove(*algorithm, {topology, collective})) used.insert(algorithm->name);
      }
    }
  }
}

TEST(Algorithms, EveryTopologyFamily) {
  const char* specs[] = {"ring:2",      "ring:5",      "line:3", "torus:2x2",    "torus:4x4",
                         "torus:2x3x2", "mesh:3x3",    "full:4", "switch:6",     "fattree:2x3",
                         "boxes:2x4",   "bigraph:4x2", "dgx1",   "random:8,3,1", "hypercube:3"};
  std::set<std::string_view> used;
  for (const char* spec : specs) plan_and_prove_all_kinds(build(spec), used);
  for (const Algorithm* algorithm : algorithms()) EXPECT_TRUE(used.contains(algorithm->name)) << algorithm->name;
}

TEST(Algorithms, EveryRankCountTo17) {
  std::set<std::string_view> used;
  for (int ranks = 2; ranks <= 17; ++ranks) plan_and_prove_all_kinds(build(fmt::format("full:{}", ranks)), used);
}

TEST(Algorithms, UnequalLinks) {
  TopologyOptions options;
  options.links = {*parse_link_rate("300GB/s"), *parse_link_rate("75GB/s")};
  options.uplink = parse_link_rate("25GB/s").value();
  std::set<std::string_view> used;
  for (const char* spec : {"boxes:2x4", "boxes:3x2", "torus:4x3", "fattree:3x2"}) {
    const auto topology = topology_from_spec(spec, options);
    ASSERT_TRUE(topology) << topology.error().text;
    plan_and_prove_all_kinds(*topology, used);
  }
}

TEST(Algorithms, PlansAreDeterministic) {
  for (const char* spec : {"torus:4x4", "bigraph:4x2", "boxes:2x4"}) {
    const Topology topology = build(spec);
    const Collective collective{.kind = CollectiveKind::kAllReduce, .ranks = topology.rank_count()};
    for (const Algorithm* algorithm : algorithms()) {
      const PlanRequest request{topology, collective};
      if (!algorithm->supports(request).empty()) continue;
      EXPECT_EQ(algorithm->plan(request)->fingerprint(), algorithm->plan(request)->fingerprint()) << algorithm->name;
    }
  }
}

TEST(Algorithms, RecordsAreComplete) {
  std::string_view last;
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_LT(last, algorithm->name);
    last = algorithm->name;
    EXPECT_FALSE(algorithm->description.empty()) << algorithm->name;
    EXPECT_FALSE(algorithm->source.empty()) << algorithm->name;
    EXPECT_EQ(find_algorithm(algorithm->name).value(), algorithm);
  }
}

TEST(Algorithms, UnknownNameSuggestsTheNearest) {
  const auto found = find_algorithm("mutitree");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kInvalidArgument);
  EXPECT_NE(found.error().text.find("did you mean 'multitree'?"), std::string::npos) << found.error().text;
}

TEST(Algorithms, OneRankCopies) {
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    auto schedule = plan_single_rank({.kind = static_cast<CollectiveKind>(kind), .ranks = 1});
    ASSERT_TRUE(schedule) << schedule.error().text;
    const auto verified = prove(std::move(*schedule));
    EXPECT_TRUE(verified) << verified.error().text;
  }
}

}  // namespace
}  // namespace hocket

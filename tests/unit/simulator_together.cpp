// Several plans on one network: alone where they share no link, never below what the loads of the links allow.
#include <gtest/gtest.h>

#include "exchange/load_topology.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Plan planned(std::string_view algorithm, const Topology& topology, std::int64_t count) {
  const Collective collective{CollectiveKind::kAllReduce, topology.rank_count(), 0};
  const auto schedule = plan_algorithm(**find_algorithm(algorithm), {topology, collective});
  return *Plan::bind(*schedule, {collective, count}, Bytes{1 << 16});
}

Topology group_of(std::string_view spec, const std::string& group) {
  TopologyOptions options;
  options.group = group;
  return *load_topology(spec, options);
}

/// Least time that the loads allow, in picoseconds.
double load_bound(const SimulationResult& sum, const Topology& topology) {
  double longest = 0;
  for (LinkId link = 0; link < sum.link_bytes.size(); ++link)
    longest = std::max(longest, static_cast<double>(sum.link_bytes[link]) / topology.link(link).bandwidth.value * 1e12);
  return longest;
}

TEST(SimulatorTogether, OneJobIsWhatItIsAlone) {
  const Topology torus = *topology_from_spec("torus:3x3", {});
  const Plan plan = planned("multitree", torus, 90'000);
  for (const NetworkModel model : kNetworkModels) {
    SimulateOptions options;
    options.model = model;
    const SimulatedJob job{&plan, &torus};
    const Result<JointResult> joint = simulate_together(std::span(&job, 1), options);
    ASSERT_TRUE(joint) << joint.error().text;
    const Result<SimulationResult> alone = simulate(plan, torus, options);
    EXPECT_EQ(joint->sum.time, alone->time);
    EXPECT_EQ(joint->times.front(), alone->time);
    EXPECT_EQ(joint->sum.link_bytes, alone->link_bytes);
  }
}

TEST(SimulatorTogether, JobsOnTheirOwnLinksDoNotSlowEachOther) {
  const Topology left = group_of("line:8", "0-3"), right = group_of("line:8", "4-7");
  const Plan a = planned("ring", left, 1 << 18), b = planned("ring", right, 1 << 16);
  for (const NetworkModel model : kNetworkModels) {
    SimulateOptions options;
    options.model = model;
    const SimulatedJob jobs[] = {{&a, &left}, {&b, &right}};
    const Result<JointResult> joint = simulate_together(jobs, options);
    ASSERT_TRUE(joint) << joint.error().text;
    EXPECT_EQ(joint->times[0], simulate(a, left, options)->time) << name_of(model);
    EXPECT_EQ(joint->times[1], simulate(b, right, options)->time) << name_of(model);
    EXPECT_EQ(joint->sum.time, std::max(joint->times[0], joint->times[1]));
  }
}

TEST(SimulatorTogether, SharedLinksTakeTheirTime) {
  const Topology ring = *topology_from_spec("ring:6", {});
  const Plan a = planned("ring", ring, 1 << 20), b = planned("ring", ring, 1 << 20);
  for (const NetworkModel model : kNetworkModels) {
    SimulateOptions options;
    options.model = model;
    const Picos alone = simulate(a, ring, options)->time;
    const SimulatedJob jobs[] = {{&a, &ring}, {&b, &ring}};
    const Result<JointResult> joint = simulate_together(jobs, options);
    ASSERT_TRUE(joint) << joint.error().text;
    const double bound = load_bound(joint->sum, ring);
    EXPECT_GE(static_cast<double>(joint->sum.time.count), bound * (1 - 1e-9));
    EXPECT_LE(static_cast<double>(joint->sum.time.count), 1.1 * 2 * static_cast<double>(alone.count));
    EXPECT_GT(static_cast<double>(joint->times[0].count), 1.5 * static_cast<double>(alone.count));
    for (LinkId link = 0; link < ring.links().size(); ++link)
      EXPECT_EQ(joint->sum.link_bytes[link], joint->link_bytes[0][link] + joint->link_bytes[1][link]);
  }
}

TEST(SimulatorTogether, OtherNetworksAreRefused) {
  const Topology ring = *topology_from_spec("ring:6", {}), line = *topology_from_spec("line:6", {});
  const Plan a = planned("ring", ring, 600), b = planned("ring", line, 600);
  const SimulatedJob jobs[] = {{&a, &ring}, {&b, &line}};
  const Result<JointResult> joint = simulate_together(jobs);
  ASSERT_FALSE(joint);
  EXPECT_EQ(joint.error().code, Code::kMismatch);
  EXPECT_FALSE(simulate_together({}));
}

TEST(SimulatorTogether, LinkFactorsAreRates) {
  const Topology ring = *topology_from_spec("ring:4", {});
  const Plan plan = planned("ring", ring, 1 << 20);
  const std::vector<double> half(ring.links().size(), 0.5);
  TopologyOptions slow;
  slow.links.push_back({{8e9}, {150e-9}});
  const Topology slower = *topology_from_spec("ring:4", slow);
  SimulateOptions options;
  options.link_factors = half;
  EXPECT_EQ(simulate(plan, ring, options)->time, simulate(plan, slower)->time);
  const std::vector<double> wrong(3, 1.0);
  options.link_factors = wrong;
  EXPECT_FALSE(simulate(plan, ring, options));
}

}  // namespace
}  // namespace hocket

// Networks and plans made for one equation each, for tests of the simulator's models: a path of links, a plan of one
// transfer, and the time that a plan takes.
// Threading: pure functions. Refuses: nothing; what cannot be built or proved fails the test.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "schedule/builder.h"
#include "simulator/simulator.h"
#include "topology/spec.h"

namespace hocket::test {

inline constexpr std::int64_t kNs = 1000;
inline constexpr std::int64_t kUs = 1000 * kNs;

struct Hop {
  double bandwidth;
  double latency;
};

/// Two npus and a switch between any two hops.
inline Topology path(const std::vector<Hop>& hops) {
  TopologyBuilder builder("path");
  VertexId last = builder.add_vertex("a", VertexKind::kNpu);
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const bool end = i + 1 == hops.size();
    const VertexId next =
        builder.add_vertex(end ? "b" : fmt::format("s{}", i), end ? VertexKind::kNpu : VertexKind::kSwitch);
    builder.add_cable(last, next, {hops[i].bandwidth}, {hops[i].latency});
    last = next;
  }
  return *std::move(builder).build();
}

inline Topology make(const std::string& spec, double bandwidth, double latency) {
  TopologyOptions options;
  options.links = {{{bandwidth}, {latency}}};
  return *topology_from_spec(spec, options);
}

inline Plan bind(ScheduleBuilder builder, std::int64_t bytes, std::int64_t segment = std::int64_t{1} << 40) {
  const Collective collective = builder.collective();
  auto verified = prove(*std::move(builder).finish());
  EXPECT_TRUE(verified) << verified.error().text;
  return *Plan::bind(std::move(*verified), {collective, bytes / 4, DataType::kF32, ReduceOp::kSum}, {segment});
}

/// Rank 0 to rank 1 and nothing else.
inline Plan transfer(std::int64_t bytes, std::int64_t segment = std::int64_t{1} << 40) {
  ScheduleBuilder builder({CollectiveKind::kBroadcast, 2, 0}, {}, "transfer");
  builder.copy(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0});
  builder.send(0, 1, {Buffer::kInput, 0});
  builder.recv(1, 0, {Buffer::kOutput, 0});
  return bind(std::move(builder), bytes, segment);
}

inline SimulationResult run(const Plan& plan, const Topology& topology, const SimulateOptions& options = {}) {
  const auto result = simulate(plan, topology, options);
  EXPECT_TRUE(result) << result.error().text;
  return result ? *result : SimulationResult{};
}

inline std::int64_t picos(const Plan& plan, const Topology& topology, const SimulateOptions& options = {}) {
  return run(plan, topology, options).time.count;
}

}  // namespace hocket::test

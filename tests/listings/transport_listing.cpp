// docs/add-a-transport.md: the transport it lists carries an all-reduce whose sums are right.
#include <gtest/gtest.h>

#include <memory>

#include "engine/engine.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {

class MailboxWorld;
std::shared_ptr<MailboxWorld> make_mailbox_world(std::uint32_t ranks);
Transport& endpoint_of(MailboxWorld& world, std::uint32_t rank);

namespace {

struct RankRun {
  RankRun(const Plan& plan, std::uint32_t rank, Transport& transport)
      : program(plan, rank), engine(program, transport), stage(static_cast<std::size_t>(program.stage_bytes())) {}
  Program program;
  Engine engine;
  std::vector<std::byte> stage;
  std::vector<std::int64_t> values;
};

void run_mailboxes(const Plan& plan) {
  const std::uint32_t ranks = plan.what().collective.ranks;
  const auto scratch_bytes = static_cast<std::size_t>(plan.scratch_bytes().count);
  const std::shared_ptr<MailboxWorld> world = make_mailbox_world(ranks);
  std::vector<std::unique_ptr<RankRun>> runs;
  std::vector<std::vector<std::byte>> scratch(ranks, std::vector<std::byte>(scratch_bytes));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    runs.push_back(std::make_unique<RankRun>(plan, rank, endpoint_of(*world, rank)));
    RankRun& run = *runs.back();
    run.values.assign(static_cast<std::size_t>(plan.what().count), rank + 1);
    auto* memory = reinterpret_cast<std::byte*>(run.values.data());
    run.engine.start({memory, memory, scratch[rank].data(), run.stage.data()});
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      moved = endpoint_of(*world, rank).poll(runs[rank]->engine) || moved;
      while (runs[rank]->engine.step()) moved = true;
    }
  }
  for (const auto& run : runs) {
    ASSERT_TRUE(run->engine.done()) << run->engine.waits_for();
    for (const std::int64_t value : run->values) ASSERT_EQ(value, std::int64_t{ranks} * (ranks + 1) / 2);
  }
}

TEST(AddATransport, ListingCarriesEveryAlgorithm) {
  const Result<Topology> topology = topology_from_spec("torus:2x3", {});
  ASSERT_TRUE(topology);
  const BoundCollective what{{CollectiveKind::kAllReduce, 6, 0}, 5000, DataType::kI64, ReduceOp::kSum};
  PlanningOptions options;
  options.segment = Bytes{1024};
  const Result<Planning> planning = plan_collective(*topology, what, options);
  ASSERT_TRUE(planning) << planning.error().text;
  for (const Candidate& candidate : planning->candidates) {
    SCOPED_TRACE(candidate.algorithm);
    run_mailboxes(candidate.plan);
  }
}

}  // namespace
}  // namespace hocket

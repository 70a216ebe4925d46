// docs/add-an-algorithm.md: the algorithm it lists is proved and executed.
#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "engine/executor.h"
#include "topology/spec.h"
#include "verify/verify.h"

namespace hocket {

extern const Algorithm algorithm_gather_and_broadcast;

namespace {

TEST(AddAnAlgorithm, ListingIsProvedAndGivesRightSums) {
  constexpr std::int64_t kCount = 1000;
  for (const char* spec : {"ring:2", "full:3", "torus:4x4"}) {
    const Result<Topology> topology = topology_from_spec(spec, {});
    ASSERT_TRUE(topology);
    const Collective collective{.kind = CollectiveKind::kAllReduce, .ranks = topology->rank_count()};
    ASSERT_EQ(algorithm_gather_and_broadcast.supports({*topology, collective}), "");
    Result<Schedule> schedule = algorithm_gather_and_broadcast.plan({*topology, collective});
    ASSERT_TRUE(schedule) << schedule.error().text;
    Result<VerifiedSchedule> verified = prove(std::move(*schedule));
    ASSERT_TRUE(verified) << verified.error().text;
    const Result<Plan> plan =
        Plan::bind(std::move(*verified), {collective, kCount, DataType::kI32, ReduceOp::kSum}, Bytes{512});
    ASSERT_TRUE(plan) << plan.error().text;
    std::vector<std::vector<std::int32_t>> values(collective.ranks, std::vector<std::int32_t>(kCount));
    std::vector<RankBuffers> buffers;
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      for (std::int64_t i = 0; i < kCount; ++i) values[rank][i] = static_cast<std::int32_t>(rank + i);
      buffers.push_back({values[rank].data(), values[rank].data()});
    }
    ASSERT_TRUE(execute(*plan, buffers));
    const auto n = static_cast<std::int32_t>(collective.ranks);
    for (const std::vector<std::int32_t>& of_rank : values) {
      for (std::int32_t i = 0; i < kCount; ++i) ASSERT_EQ(of_rank[i], n * i + n * (n - 1) / 2) << spec;
    }
  }
}

}  // namespace
}  // namespace hocket

// What ranks that disagree say of their calls.
#include <gtest/gtest.h>

#include "transport/call_notice.h"

namespace hocket {
namespace {

CallNotice notice(const BoundCollective& what, std::uint64_t plan = 1) { return {7, what, {plan, 0}}; }

const BoundCollective kReduce{{CollectiveKind::kAllReduce, 4, 0}, 1024, DataType::kF32, ReduceOp::kSum};

TEST(CallNotice, CallsABarrierByItsName) {
  EXPECT_EQ(notice(barrier_of(4)).text(), "call 7, barrier");
  EXPECT_EQ(notice(kReduce).text(), "call 7, all_reduce of 1024 f32 sum");
  EXPECT_EQ(difference(notice(kReduce), notice(barrier_of(4))), "operation all_reduce here, barrier there");
  EXPECT_EQ(difference(notice(barrier_of(4)), notice(barrier_of(4))), "");
}

TEST(CallNotice, SaysWhatPlansMayDifferBy) {
  const std::string said = difference(notice(kReduce, 1), notice(kReduce, 2));
  EXPECT_TRUE(said.starts_with("plan ")) << said;
  for (const char* source : {"HOCKET_TOPO_FILE", "HOCKET_PLAN_FILE", "HOCKET_TRANSPORT"})
    EXPECT_NE(said.find(source), std::string::npos) << said;
}

}  // namespace
}  // namespace hocket

// Gather and broadcast: all-reduce by sending everything to rank 0, which adds it up and sends the sum back.
// Three ranks:    step 0: 1 -> 0    step 1: 2 -> 0    step 2: 0 -> 1    step 3: 0 -> 2
#include "algorithms/algorithm.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  return request.collective.kind == CollectiveKind::kAllReduce ? "" : "it does all_reduce only";
}

Result<Schedule> plan(const PlanRequest& request) {
  const std::uint32_t ranks = request.collective.ranks;
  const PieceRange input{Buffer::kInput, 0, 1};
  const PieceRange output{Buffer::kOutput, 0, 1};
  ScheduleBuilder builder(request.collective, Division{}, "gather_and_broadcast");
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    builder.send(rank, 0, input, {.step = rank - 1});
    builder.recv_reduce(0, rank, rank == 1 ? input : output, output, {.step = rank - 1});
  }
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    builder.send(0, rank, output, {.step = ranks + rank - 2});
    builder.recv(rank, 0, output, {.step = ranks + rank - 2});
  }
  return std::move(builder).finish();
}

}  // namespace

extern const Algorithm algorithm_gather_and_broadcast{
    .name = "gather_and_broadcast",
    .description = "everything to rank 0, the sum back to everyone",
    .source = "docs/add-an-algorithm.md",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

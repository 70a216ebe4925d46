// One-shot all-reduce (the one-phase, two-sided "flat" exchange of Chan, Heimlich, Purkayastha and van de Geijn,
// "Collective communication: theory, practice, and experience", CCPE 2007, section 4; NCCL-like libraries call it one
// shot): every rank sends its whole vector to every other and adds up what it gets. One step, (n - 1) vectors out of
// every rank; for the shortest vectors. All ranks add in the order of ranks, so that all have the same bits.
//     rank 2 of 4:  sends v2 to 3, 0, 1    scratch = v0 + v1    output = v2 + scratch    output = output + v3
#include "algorithms/algorithm.h"

namespace hocket {
namespace {

constexpr PieceRange kInputAll{Buffer::kInput, 0, 1};
constexpr PieceRange kOutputAll{Buffer::kOutput, 0, 1};
constexpr PieceRange kScratchAll{Buffer::kScratch, 0, 1};

constexpr std::uint32_t kRanksMax = 64;

std::string supports(const PlanRequest& request) {
  const Collective& collective = request.collective;
  if (collective.kind != CollectiveKind::kAllReduce) return fmt::format("it does not do {}", name_of(collective.kind));
  if (collective.ranks <= kRanksMax) return {};
  return fmt::format("{} ranks: it is for {} at most, as every rank sends to all", collective.ranks, kRanksMax);
}

/// The sum of what ranks below have sent comes together apart, since an output in place still holds this rank's own.
void add_lower_ranks(ScheduleBuilder& builder, std::uint32_t rank) {
  if (rank == 0) return;
  if (rank == 1) {
    builder.recv_reduce(rank, 0, kInputAll, kOutputAll);
    return;
  }
  builder.recv(rank, 0, kScratchAll);
  for (std::uint32_t from = 1; from < rank; ++from) builder.recv_reduce(rank, from, kScratchAll, kScratchAll);
  builder.copy(rank, kInputAll, kOutputAll);
  builder.reduce(rank, kScratchAll, kOutputAll);
}

Result<Schedule> plan(const PlanRequest& request) {
  const std::uint32_t n = request.collective.ranks;
  ScheduleBuilder builder(request.collective, Division{.blocks = 1, .pieces_per_block = 1, .weights = {}}, "one_shot");
  builder.set_scratch_pieces(n > 2 ? 1 : 0);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    for (std::uint32_t s = 1; s < n; ++s) builder.send(rank, (rank + s) % n, kInputAll);
    add_lower_ranks(builder, rank);
    for (std::uint32_t from = rank + 1; from < n; ++from)
      builder.recv_reduce(rank, from, rank == 0 && from == 1 ? kInputAll : kOutputAll, kOutputAll);
  }
  return std::move(builder).finish();
}

}  // namespace

extern const Algorithm algorithm_one_shot{
    .name = "one_shot",
    .description = "every rank sends its whole vector to every other; for the shortest vectors",
    .source = "Chan, Heimlich, Purkayastha and van de Geijn, CCPE 2007, section 4",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// Recursive doubling (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 2005, sections 4.1 and 4.5): partners at distance 1, 2, 4 ... exchange all they have. Log2 N steps, the least
// there can be; for small vectors. Four ranks: 0<->1 2<->3, then 0<->2 1<->3.
// Ranks beyond a power of two lend their data to a partner first and get the result from it at the end.
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/parts/folding.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather) return {};
  return fmt::format("it does not do {}", name_of(kind));
}

Result<Schedule> plan_all_reduce(const Collective& collective) {
  const Folding folding(collective.ranks);
  Transfers transfers(collective, 1, "recursive_doubling");
  std::uint32_t step = fold_in(transfers, folding);
  for (std::uint32_t distance = 1; distance < folding.core; distance *= 2, ++step) {
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.send(rank, rank ^ distance, {0, 1}, {.step = step});
    }
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.recv_reduce(rank, rank ^ distance, {0, 1}, {.step = step});
    }
  }
  fold_out(transfers, folding, step);
  return std::move(transfers).finish();
}

/// Blocks of the `length` ranks aligned around `rank` and of the extra ranks folded into them.
std::vector<Run> group_blocks(const Folding& folding, std::uint32_t rank, std::uint32_t length) {
  const std::uint32_t first = rank & ~(length - 1);
  std::vector<Run> runs{{first, length}};
  if (first < folding.extras) runs.push_back({folding.core + first, std::min(length, folding.extras - first)});
  return runs;
}

Result<Schedule> plan_all_gather(const Collective& collective) {
  const Folding folding(collective.ranks);
  Transfers transfers(collective, collective.ranks, "recursive_doubling");
  std::uint32_t step = folding.extras > 0 ? 1 : 0;
  for (std::uint32_t i = 0; i < folding.extras; ++i) {
    transfers.copy(folding.core + i, i, {folding.core + i, 1}, {.step = 0});
  }
  for (std::uint32_t distance = 1; distance < folding.core; distance *= 2, ++step) {
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      for (const Run run : group_blocks(folding, rank, distance)) {
        transfers.send(rank, rank ^ distance, run, {.step = step});
      }
    }
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      for (const Run run : group_blocks(folding, rank ^ distance, distance)) {
        transfers.recv(rank, rank ^ distance, run, {.step = step});
      }
    }
  }
  for (std::uint32_t i = 0; i < folding.extras; ++i) {
    const std::uint32_t extra = folding.core + i;
    transfers.copy(i, extra, {0, extra}, {.step = step});
    const std::uint32_t rest = collective.ranks - extra - 1;
    if (rest > 0) transfers.copy(i, extra, {extra + 1, rest}, {.step = step});
  }
  return std::move(transfers).finish();
}

Result<Schedule> plan(const PlanRequest& request) {
  return request.collective.kind == CollectiveKind::kAllReduce ? plan_all_reduce(request.collective)
                                                               : plan_all_gather(request.collective);
}

}  // namespace

extern const Algorithm algorithm_recursive_doubling{
    .name = "recursive_doubling",
    .description = "partners at distance 1, 2, 4 ... exchange all they have; for small vectors",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, sections 4.1 and 4.5",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

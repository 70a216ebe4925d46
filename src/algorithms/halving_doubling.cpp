// Recursive halving, then recursive doubling (Rabenseifner; Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005, section 4.5): partners at distance N/2, N/4 ... 1 exchange the half
// of their range that the other keeps and add; all-gather takes the way back. Four ranks, blocks b0 b1 b2 b3:
//     distance 2: 0 -b2b3-> 2  2 -b0b1-> 0  1 -b2b3-> 3  3 -b0b1-> 1     distance 1: 0 -b1-> 1  1 -b0-> 0 ...
// All-reduce takes any number of ranks by folding those beyond a power of two (section 4.5 there).
#include <bit>

#include "algorithms/algorithm.h"
#include "algorithms/parts/folding.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  if (is_rooted(kind) || kind == CollectiveKind::kAllToAll) return fmt::format("it does not do {}", name_of(kind));
  if (is_blocked(kind) && !std::has_single_bit(request.collective.ranks)) {
    return fmt::format("{} needs a power of two of ranks", name_of(kind));
  }
  return {};
}

/// The `length` pieces, aligned, that piece `rank` lies in.
Run aligned(std::uint32_t rank, std::uint32_t length) { return {rank & ~(length - 1), length}; }

Result<Schedule> plan(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  const Folding folding(request.collective.ranks);
  Transfers transfers(request.collective, folding.core, "halving_doubling");
  std::uint32_t step = kind == CollectiveKind::kAllReduce ? fold_in(transfers, folding) : 0;
  for (std::uint32_t distance = folding.core / 2; distance > 0 && reduces(kind); distance /= 2, ++step) {
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.send(rank, rank ^ distance, aligned(rank ^ distance, distance), {.step = step});
    }
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.recv_reduce(rank, rank ^ distance, aligned(rank, distance), {.step = step});
    }
  }
  if (kind == CollectiveKind::kReduceScatter) return std::move(transfers).finish();
  for (std::uint32_t distance = 1; distance < folding.core; distance *= 2, ++step) {
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.send(rank, rank ^ distance, aligned(rank, distance), {.step = step});
    }
    for (std::uint32_t rank = 0; rank < folding.core; ++rank) {
      transfers.recv(rank, rank ^ distance, aligned(rank ^ distance, distance), {.step = step});
    }
  }
  if (kind == CollectiveKind::kAllReduce) fold_out(transfers, folding, step);
  return std::move(transfers).finish();
}

}  // namespace

extern const Algorithm algorithm_halving_doubling{
    .name = "halving_doubling",
    .description = "recursive halving to reduce, recursive doubling to gather",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

// Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", IEEE TPDS
// 1997, sections 3 (all-to-all) and 4 (all-gather): any number of ranks in ceil(log2 N) steps; for small vectors.
// All-gather: in step k a rank sends the blocks it has, its own and its successors', to the rank 2^k before it.
// All-to-all: the block for the rank j further on travels 2^k ranks in every step k whose bit is set in j. Three ranks:
//     all-gather   0 -b0-> 2  1 -b1-> 0  2 -b2-> 1   then   0 -b0-> 1  1 -b1-> 2  2 -b2-> 0
#include <algorithm>
#include <bit>

#include "algorithms/algorithm.h"
#include "algorithms/parts/transfers.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  const CollectiveKind kind = request.collective.kind;
  if (kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll) return {};
  return fmt::format("it does not do {}", name_of(kind));
}

/// `count` blocks from `first` on, going around after `ranks`.
std::vector<Run> around(std::uint32_t first, std::uint32_t count, std::uint32_t ranks) {
  if (first + count <= ranks) return {{first, count}};
  return {{first, ranks - first}, {0, first + count - ranks}};
}

Result<Schedule> plan_all_gather(const Collective& collective) {
  const std::uint32_t n = collective.ranks;
  Transfers transfers(collective, n, "bruck");
  std::uint32_t step = 0;
  for (std::uint32_t distance = 1; distance < n; distance *= 2, ++step) {
    const std::uint32_t count = std::min(distance, n - distance);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const std::uint32_t to = (rank + n - distance) % n;
      for (const Run run : around(rank, count, n)) transfers.send(rank, to, run, {.step = step});
    }
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const std::uint32_t from = (rank + distance) % n;
      for (const Run run : around(from, count, n)) transfers.recv(rank, from, run, {.step = step});
    }
  }
  return std::move(transfers).finish();
}

/// Where `rank` keeps the block that is still to be sent to the rank `ahead` further on from its origin, after the
/// steps below `distance`.
PieceRange kept(std::uint32_t rank, std::uint32_t ahead, std::uint32_t distance, std::uint32_t ranks) {
  const bool moved = (ahead & (distance - 1)) != 0;
  if (moved) return {Buffer::kScratch, ahead, 1};
  return {Buffer::kInput, (rank + ahead) % ranks, 1};
}

Result<Schedule> plan_all_to_all(const Collective& collective) {
  const std::uint32_t n = collective.ranks;
  ScheduleBuilder builder(collective, divide(collective, n), "bruck");
  builder.set_scratch_pieces(n);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    builder.copy(rank, {Buffer::kInput, rank, 1}, {Buffer::kOutput, rank, 1});
    std::uint32_t step = 0;
    for (std::uint32_t distance = 1; distance < n; distance *= 2, ++step) {
      for (std::uint32_t ahead = distance; ahead < n; ++ahead) {
        if ((ahead & distance) == 0) continue;
        builder.send(rank, (rank + distance) % n, kept(rank, ahead, distance, n), {.step = step});
      }
      for (std::uint32_t ahead = distance; ahead < n; ++ahead) {
        if ((ahead & distance) == 0) continue;
        const bool arrived = std::bit_floor(ahead) == distance;
        const PieceRange target =
            arrived ? PieceRange{Buffer::kOutput, (rank + n - ahead) % n, 1} : PieceRange{Buffer::kScratch, ahead, 1};
        builder.recv(rank, (rank + n - distance) % n, target, {.step = step});
      }
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> plan(const PlanRequest& request) {
  return request.collective.kind == CollectiveKind::kAllGather ? plan_all_gather(request.collective)
                                                               : plan_all_to_all(request.collective);
}

}  // namespace

extern const Algorithm algorithm_bruck{
    .name = "bruck",
    .description = "all-gather and all-to-all in ceil(log2 N) steps; for small vectors",
    .source = "Bruck et al., IEEE TPDS 1997, sections 3 and 4",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

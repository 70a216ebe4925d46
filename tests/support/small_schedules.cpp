#include "support/small_schedules.h"

#include <bit>
#include <cmath>

namespace hocket::test {
namespace {

using enum CollectiveKind;

Division blocks_of(std::uint32_t ranks) { return {.blocks = ranks}; }

Result<Schedule> single(CollectiveKind kind) {
  ScheduleBuilder builder({kind, 1, 0}, {.blocks = 1}, "single");
  builder.copy(0, {kIn, 0, 1}, {kOut, 0, 1});
  return std::move(builder).finish();
}

/// Parent and children of a rank in the binary tree over ranks rotated so that the root is 0.
struct TreePlace {
  std::vector<std::uint32_t> children;
  std::uint32_t parent = 0;
  bool root = false;
};
TreePlace tree_place(std::uint32_t ranks, std::uint32_t root, std::uint32_t rank) {
  const std::uint32_t i = (rank + ranks - root) % ranks;
  TreePlace place;
  place.root = i == 0;
  if (i > 0) place.parent = ((i - 1) / 2 + root) % ranks;
  for (const std::uint32_t child : {2 * i + 1, 2 * i + 2}) {
    if (child < ranks) place.children.push_back((child + root) % ranks);
  }
  return place;
}

}  // namespace

Result<Schedule> ring_all_reduce(std::uint32_t n, std::uint32_t parts) {
  if (n == 1) return single(kAllReduce);
  ScheduleBuilder builder({kAllReduce, n, 0}, {.pieces_per_block = n * parts}, "test_ring");
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t next = (r + 1) % n;
    const std::uint32_t previous = (r + n - 1) % n;
    for (std::uint32_t step = 0; step + 1 < n; ++step) {
      const std::uint32_t out = (r + n - step) % n * parts;
      const std::uint32_t in = (r + 2 * n - step - 1) % n * parts;
      builder.send(r, next, {step == 0 ? kIn : kOut, out, parts}, {.step = step});
      builder.recv_reduce(r, previous, {kIn, in, parts}, {kOut, in, parts}, {.step = step});
    }
    for (std::uint32_t step = 0; step + 1 < n; ++step) {
      const std::uint32_t out = (r + n + 1 - step) % n * parts;
      const std::uint32_t in = (r + n - step) % n * parts;
      builder.send(r, next, {kOut, out, parts}, {.step = n - 1 + step});
      builder.recv(r, previous, {kOut, in, parts}, {.step = n - 1 + step});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> tree_broadcast(std::uint32_t n, std::uint32_t root) {
  ScheduleBuilder builder({kBroadcast, n, root}, {.pieces_per_block = 2}, "test_tree");
  for (std::uint32_t r = 0; r < n; ++r) {
    const TreePlace place = tree_place(n, root, r);
    if (place.root) {
      builder.copy(r, {kIn, 0, 2}, {kOut, 0, 2});
    } else {
      builder.recv(r, place.parent, {kOut, 0, 2});
    }
    for (const std::uint32_t child : place.children) builder.send(r, child, {place.root ? kIn : kOut, 0, 2});
  }
  return std::move(builder).finish();
}

Result<Schedule> tree_reduce(std::uint32_t n, std::uint32_t root) {
  ScheduleBuilder builder({kReduce, n, root}, {.pieces_per_block = 3}, "test_tree_reduce");
  builder.set_scratch_pieces(9);  // one round for the sum, one per child
  for (std::uint32_t r = 0; r < n; ++r) {
    const TreePlace place = tree_place(n, root, r);
    const PieceRange sum{place.root ? kOut : kScratch, 0, 3};
    builder.copy(r, {kIn, 0, 3}, sum);
    std::uint32_t round = 3;
    for (const std::uint32_t child : place.children) {
      builder.wait(r, child);
      builder.recv(r, child, {kScratch, round, 3});
      builder.reduce(r, {kScratch, round, 3}, sum);
      round += 3;
    }
    if (!place.root) {
      builder.signal(r, place.parent);
      builder.send(r, place.parent, sum);
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> direct_all_to_all(std::uint32_t n) {
  ScheduleBuilder builder({kAllToAll, n, 0}, blocks_of(n), "test_direct");
  for (std::uint32_t r = 0; r < n; ++r) {
    builder.copy(r, {kIn, r, 1}, {kOut, r, 1});
    for (std::uint32_t d = 1; d < n; ++d) {
      builder.send(r, (r + d) % n, {kIn, (r + d) % n, 1});
      builder.recv(r, (r + n - d) % n, {kOut, (r + n - d) % n, 1});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> ring_all_gather(std::uint32_t n) {
  ScheduleBuilder builder({kAllGather, n, 0}, blocks_of(n), "test_ring_gather");
  for (std::uint32_t r = 0; r < n; ++r) {
    builder.copy(r, {kIn, r, 1}, {kOut, r, 1});
    for (std::uint32_t step = 0; step + 1 < n; ++step) {
      builder.send(r, (r + 1) % n, {step == 0 ? kIn : kOut, (r + n - step) % n, 1});
      builder.recv(r, (r + n - 1) % n, {kOut, (r + 2 * n - step - 1) % n, 1});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> direct_reduce_scatter(std::uint32_t n) {
  if (n == 1) return single(kReduceScatter);
  ScheduleBuilder builder({kReduceScatter, n, 0}, blocks_of(n), "test_direct_scatter");
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t d = 1; d < n; ++d) builder.send(r, (r + d) % n, {kIn, (r + d) % n, 1});
    for (std::uint32_t d = 1; d < n; ++d) {
      builder.recv_reduce(r, (r + d) % n, {d == 1 ? kIn : kOut, r, 1}, {kOut, r, 1});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> doubling_all_reduce(std::uint32_t ranks) {
  const std::uint32_t n = std::bit_floor(ranks);
  if (n == 1) return single(kAllReduce);
  ScheduleBuilder builder({kAllReduce, n, 0}, {.pieces_per_block = 2}, "test_doubling");
  builder.set_scratch_pieces(2);
  for (std::uint32_t r = 0; r < n; ++r) {
    builder.copy(r, {kIn, 0, 2}, {kOut, 0, 2});
    for (std::uint32_t d = 1; d < n; d *= 2) {
      builder.send(r, r ^ d, {kOut, 0, 2});
      builder.recv_reduce(r, r ^ d, {kOut, 0, 2}, {kOut, 0, 2});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> line_broadcast_by_one_place(std::uint32_t n) {
  constexpr std::uint32_t kPieces = 4;
  ScheduleBuilder builder({kBroadcast, n, 0}, {.pieces_per_block = kPieces, .uniform = true}, "test_one_place");
  builder.copy(0, {kIn, 0, kPieces}, {kOut, 0, kPieces});
  for (std::uint32_t piece = kPieces; piece-- > 0;) {
    builder.send(0, 1, {kIn, piece, 1});
    for (std::uint32_t r = 1; r < n; ++r) {
      builder.recv(r, r - 1, {kOut, 0, 1});
      if (r + 1 < n) builder.send(r, r + 1, {kOut, 0, 1});
      if (piece > 0) builder.copy(r, {kOut, 0, 1}, {kOut, piece, 1});
    }
  }
  return std::move(builder).finish();
}

Result<Schedule> random_schedule(Random& random) {
  const auto n = static_cast<std::uint32_t>(2 + random.below(7));
  switch (random.below(8)) {
    case 0:
      return ring_all_reduce(n, static_cast<std::uint32_t>(1 + random.below(3)));
    case 1:
      return tree_broadcast(n, static_cast<std::uint32_t>(random.below(n)));
    case 2:
      return tree_reduce(n, static_cast<std::uint32_t>(random.below(n)));
    case 3:
      return direct_all_to_all(n);
    case 4:
      return ring_all_gather(n);
    case 5:
      return direct_reduce_scatter(n);
    case 6:
      return line_broadcast_by_one_place(n);
    default:
      return doubling_all_reduce(n);
  }
}

namespace {

template <class Element>
std::vector<RankBytes> fill(const BoundCollective& what, Element&& element) {
  const auto size = static_cast<std::size_t>(size_of(what.type));
  std::vector<RankBytes> inputs;
  for (std::uint32_t r = 0; r < what.collective.ranks; ++r) {
    RankBytes bytes(static_cast<std::size_t>(input_count(what, r)) * size);
    for (std::size_t i = 0; i < bytes.size(); i += size) {
      const std::uint64_t bits = element();
      std::memcpy(&bytes[i], &bits, size);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

}  // namespace

std::vector<RankBytes> small_integer_inputs(const BoundCollective& what, Random& random) {
  // 0 to 3, and 1 or 2 for products.
  static constexpr std::uint16_t kHalf[] = {0, 0x3c00, 0x4000, 0x4200};
  return fill(what, [&]() -> std::uint64_t {
    const std::uint64_t v = what.op == ReduceOp::kProd ? 1 + random.below(2) : random.below(4);
    const auto value = static_cast<float>(v);
    if (what.type == DataType::kF32) return std::bit_cast<std::uint32_t>(value);
    if (what.type == DataType::kF64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    if (what.type == DataType::kBf16) return std::bit_cast<std::uint32_t>(value) >> 16;
    if (what.type == DataType::kF16) return kHalf[v];
    return v;
  });
}

std::vector<RankBytes> rough_inputs(const BoundCollective& what, Random& random) {
  return fill(what, [&]() -> std::uint64_t {
    const double value = std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(12)));
    if (what.type == DataType::kF32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (what.type == DataType::kF64) return std::bit_cast<std::uint64_t>(value);
    return random.next() & 0x3fff3fff3fff3fffULL;  // finite in f16 and bf16 too
  });
}

}  // namespace hocket::test

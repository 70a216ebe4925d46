// Collective: what is asked for (kind, ranks, elements, dtype, operator, root), and the words for it.
// `count` follows nccl-tests' "size" column: elements of the whole logical vector. all-reduce, broadcast, reduce: one
// buffer; reduce-scatter: one rank's whole input; all-gather: one rank's whole output; all-to-all: one rank's buffer.
// Threading: plain values. Refuses: unknown words, a root outside the ranks, counts that blocks cannot share equally.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "hocket/types.h"

namespace hocket {

enum class CollectiveKind : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kAllToAll };
inline constexpr int kCollectiveKinds = 6;

[[nodiscard]] std::string_view name_of(CollectiveKind kind);  // "all_reduce"
[[nodiscard]] std::string_view name_of(DataType type);        // "f32"
[[nodiscard]] std::string_view name_of(ReduceOp op);          // "sum"
/// Accepts "all_reduce", "allreduce", "all-reduce"; "f32", "float", "float32", "fp32"; an Error lists the words known.
[[nodiscard]] Result<CollectiveKind> parse_collective(std::string_view word);
[[nodiscard]] Result<DataType> parse_data_type(std::string_view word);
[[nodiscard]] Result<ReduceOp> parse_reduce_op(std::string_view word);

[[nodiscard]] constexpr std::int64_t size_of(DataType type) {
  switch (type) {
    case DataType::kI8:
    case DataType::kU8:
      return 1;
    case DataType::kF16:
    case DataType::kBf16:
      return 2;
    case DataType::kI32:
    case DataType::kU32:
    case DataType::kF32:
      return 4;
    default:
      return 8;
  }
}

/// True for the kinds whose result combines contributions.
[[nodiscard]] constexpr bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduce;
}
/// True for the kinds that have a root.
[[nodiscard]] constexpr bool is_rooted(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
}
/// True for the kinds whose vector is made of one block per rank.
[[nodiscard]] constexpr bool is_blocked(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kAllToAll;
}

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;  // rooted kinds only

  bool operator==(const Collective&) const = default;
};

/// A collective with its amount: what plans are bound to and bounds are computed for.
struct BoundCollective {
  Collective collective;
  std::int64_t count = 0;  // elements of the whole vector, see the top of this file
  DataType type = DataType::kF32;
  ReduceOp op = ReduceOp::kSum;

  [[nodiscard]] Bytes bytes() const { return {count * size_of(type)}; }
  bool operator==(const BoundCollective&) const = default;
};

/// Checks ranks, root and count (blocked kinds need a multiple of the ranks; bytes must fit 63 bits).
[[nodiscard]] Result<void> validate(const BoundCollective& what);

/// busbw / algbw of nccl-tests: 2(n-1)/n, (n-1)/n or 1. Zero for one rank where the formula says so.
[[nodiscard]] double bus_factor(const Collective& collective);

}  // namespace hocket

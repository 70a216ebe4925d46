#pragma once

// What elements are and how they are combined.
// The values are those of plan files and of the wire, in this order.
// Threading: plain values. Refuses: nothing.

#include <cstdint>

namespace hocket {

enum class DataType : std::uint8_t { kI8, kU8, kI32, kU32, kI64, kU64, kF16, kBf16, kF32, kF64 };
inline constexpr int kDataTypes = 10;

/// kAvg: the sum divided by the number of ranks; integers truncate toward zero.
enum class ReduceOp : std::uint8_t { kSum, kProd, kMin, kMax, kAvg };
inline constexpr int kReduceOps = 5;

}  // namespace hocket

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/half.h"
#include "engine/reduce_table.h"

namespace hocket {
namespace {

/// How values of a type lie in memory, and the type they are computed in.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value read(Stored s) { return s; }
  static Stored write(Value v) { return v; }
};
struct F16 {
  using Stored = std::uint16_t;
  using Value = float;
  static Value read(Stored s) { return f32_from_f16(s); }
  static Stored write(Value v) { return f16_from_f32(v); }
};
struct Bf16 {
  using Stored = std::uint16_t;
  using Value = float;
  static Value read(Stored s) { return f32_from_bf16(s); }
  static Stored write(Value v) { return bf16_from_f32(v); }
};

template <class V>
V quiet(V v) {
  return std::isnan(v) ? std::numeric_limits<V>::quiet_NaN() : v;
}

template <class V>
using Bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;

template <ReduceOp kOp, class V>
V apply_float(V a, V b) {
  if constexpr (kOp == ReduceOp::kSum) return quiet(a + b);
  if constexpr (kOp == ReduceOp::kProd) return quiet(a * b);
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<V>::quiet_NaN();
  const auto x = std::bit_cast<Bits<V>>(a);
  const auto y = std::bit_cast<Bits<V>>(b);
  // Equal values differ in the sign of zero at most.
  if (a == b) return std::bit_cast<V>(static_cast<Bits<V>>(kOp == ReduceOp::kMin ? x | y : x & y));
  return (a < b) == (kOp == ReduceOp::kMin) ? a : b;
}

template <ReduceOp kOp, class V>
V apply_integer(V a, V b) {
  // 64 bits: small types would be promoted to int, whose product may overflow.
  using Unsigned = std::make_unsigned_t<V>;
  const std::uint64_t x = static_cast<Unsigned>(a);
  const std::uint64_t y = static_cast<Unsigned>(b);
  if constexpr (kOp == ReduceOp::kSum) return static_cast<V>(x + y);
  if constexpr (kOp == ReduceOp::kProd) return static_cast<V>(x * y);
  if constexpr (kOp == ReduceOp::kMin) return b < a ? b : a;
  return a < b ? b : a;
}

template <ReduceOp kOp, class V>
V apply(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) {
    return apply_float<kOp>(a, b);
  } else {
    return apply_integer<kOp>(a, b);
  }
}

template <class Type>
typename Type::Value read_at(const void* from, std::size_t i) {
  typename Type::Stored stored;
  std::memcpy(&stored, static_cast<const char*>(from) + i * sizeof(stored), sizeof(stored));
  return Type::read(stored);
}

template <class Type>
void write_at(void* to, std::size_t i, typename Type::Value value) {
  const typename Type::Stored stored = Type::write(value);
  std::memcpy(static_cast<char*>(to) + i * sizeof(stored), &stored, sizeof(stored));
}

template <class Type, ReduceOp kOp>
void combine(void* target, const void* a, const void* b, std::size_t count, Stores) {
  for (std::size_t i = 0; i < count; ++i) {
    write_at<Type>(target, i, apply<kOp>(read_at<Type>(a, i), read_at<Type>(b, i)));
  }
}

template <class Type>
void scale(void* target, std::size_t count, std::uint32_t divisor) {
  using Value = typename Type::Value;
  for (std::size_t i = 0; i < count; ++i) {
    const Value v = read_at<Type>(target, i);
    if constexpr (std::is_floating_point_v<Value>) {
      write_at<Type>(target, i, quiet(v / static_cast<Value>(divisor)));
    } else if constexpr (std::is_signed_v<Value>) {
      write_at<Type>(target, i, static_cast<Value>(std::int64_t{v} / std::int64_t{divisor}));
    } else {
      write_at<Type>(target, i, static_cast<Value>(std::uint64_t{v} / divisor));
    }
  }
}

void copy(void* target, const void* source, std::size_t bytes, Stores) {
  if (bytes > 0) std::memcpy(target, source, bytes);
}

template <class Type>
constexpr std::array<CombineKernel, 4> combine_row() {
  return {combine<Type, ReduceOp::kSum>, combine<Type, ReduceOp::kProd>, combine<Type, ReduceOp::kMin>,
          combine<Type, ReduceOp::kMax>};
}

constexpr KernelTable kTable{
    {combine_row<Plain<std::int8_t>>(), combine_row<Plain<std::uint8_t>>(), combine_row<Plain<std::int32_t>>(),
     combine_row<Plain<std::uint32_t>>(), combine_row<Plain<std::int64_t>>(), combine_row<Plain<std::uint64_t>>(),
     combine_row<F16>(), combine_row<Bf16>(), combine_row<Plain<float>>(), combine_row<Plain<double>>()},
    {scale<Plain<std::int8_t>>, scale<Plain<std::uint8_t>>, scale<Plain<std::int32_t>>, scale<Plain<std::uint32_t>>,
     scale<Plain<std::int64_t>>, scale<Plain<std::uint64_t>>, scale<F16>, scale<Bf16>, scale<Plain<float>>,
     scale<Plain<double>>},
    copy};

}  // namespace

const KernelTable* portable_kernels() { return &kTable; }

}  // namespace hocket

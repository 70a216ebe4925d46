// The kernels in vectors of HOCKET_WIDE_BYTES, for one instruction set named by function attributes.
// Included by reduce_avx2.cpp (which takes the defaults below) and reduce_avx512.cpp only; everything is local to them,
// so that no code compiled for a wider instruction set is ever shared with the rest of the program.
// Heads and tails shorter than a vector go through a small buffer and the same vector operation.
// Threading: pure functions. Refuses: nothing.
#pragma once

#include <immintrin.h>

#include <cstring>
#include <type_traits>

#include "engine/reduce_table.h"

#ifndef HOCKET_WIDE_BYTES
#define HOCKET_WIDE_BYTES 32
#define HOCKET_WIDE_TARGET "avx2,f16c"
#endif
#define HOCKET_WIDE __attribute__((target(HOCKET_WIDE_TARGET)))
#define HOCKET_WIDE_INLINE __attribute__((target(HOCKET_WIDE_TARGET), always_inline)) inline

namespace hocket {
namespace {

template <class T, std::size_t kBytes = HOCKET_WIDE_BYTES>
struct Vector {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T, std::size_t kBytes = HOCKET_WIDE_BYTES>
using VectorOf = typename Vector<T, kBytes>::Type;

template <class V>
HOCKET_WIDE_INLINE V load(const std::byte* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(V));
  return v;
}

template <class V>
HOCKET_WIDE_INLINE void store(std::byte* to, V v) {
  __builtin_memcpy(to, &v, sizeof(V));
}

/// `to` is aligned to the vector.
template <class V>
HOCKET_WIDE_INLINE void stream(std::byte* to, V v) {
#if HOCKET_WIDE_BYTES == 64
  if constexpr (sizeof(V) == 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
#endif
  if constexpr (sizeof(V) == 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
  if constexpr (sizeof(V) == 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
}

template <class T>
struct Plain {
  using Stored = VectorOf<T>;
  using Value = VectorOf<T>;
  using Scalar = T;
  static constexpr std::size_t kElementBytes = sizeof(T);
  HOCKET_WIDE_INLINE static Value read(Stored s) { return s; }
  HOCKET_WIDE_INLINE static Stored write(Value v) { return v; }
};

using F32s = VectorOf<float>;
using U32s = VectorOf<std::uint32_t>;
using U16s = VectorOf<std::uint16_t, HOCKET_WIDE_BYTES / 2>;

/// g++ 12 warns that the unmasked conversions read an undefined register, so the masked ones are used.
[[maybe_unused]] inline constexpr unsigned short kAllLanes = 0xffff;

struct F16 {
  using Stored = U16s;
  using Value = F32s;
  using Scalar = float;
  static constexpr std::size_t kElementBytes = 2;
  HOCKET_WIDE_INLINE static Value read(Stored s) {
#if HOCKET_WIDE_BYTES == 64
    return reinterpret_cast<Value>(_mm512_maskz_cvtph_ps(kAllLanes, reinterpret_cast<__m256i>(s)));
#else
    return reinterpret_cast<Value>(_mm256_cvtph_ps(reinterpret_cast<__m128i>(s)));
#endif
  }
  HOCKET_WIDE_INLINE static Stored write(Value v) {
    constexpr int kRounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if HOCKET_WIDE_BYTES == 64
    return reinterpret_cast<Stored>(_mm512_maskz_cvtps_ph(kAllLanes, reinterpret_cast<__m512>(v), kRounding));
#else
    return reinterpret_cast<Stored>(_mm256_cvtps_ph(reinterpret_cast<__m256>(v), kRounding));
#endif
  }
};

struct Bf16 {
  using Stored = U16s;
  using Value = F32s;
  using Scalar = float;
  static constexpr std::size_t kElementBytes = 2;
  HOCKET_WIDE_INLINE static Value read(Stored s) {
    return reinterpret_cast<Value>(__builtin_convertvector(s, U32s) << 16);
  }
  /// NaNs are already the canonical one, which rounding leaves alone.
  HOCKET_WIDE_INLINE static Stored write(Value v) {
    const U32s bits = reinterpret_cast<U32s>(v);
    return __builtin_convertvector((bits + 0x7fff + ((bits >> 16) & 1)) >> 16, U16s);
  }
};

template <class Type>
HOCKET_WIDE_INLINE typename Type::Value broadcast(typename Type::Scalar s) {
  return s - typename Type::Value{};  // x - 0 keeps every x, also -0
}

template <class Type>
HOCKET_WIDE_INLINE typename Type::Value quiet(typename Type::Value v) {
  const auto nan = broadcast<Type>(static_cast<typename Type::Scalar>(__builtin_nanf("")));
  return v == v ? v : nan;  // NOLINT(misc-redundant-expression): false for a NaN
}

template <class Type, ReduceOp kOp>
HOCKET_WIDE_INLINE typename Type::Value apply_float(typename Type::Value a, typename Type::Value b) {
  using Value = typename Type::Value;
  if constexpr (kOp == ReduceOp::kSum) {
    return quiet<Type>(a + b);
  } else if constexpr (kOp == ReduceOp::kProd) {
    return quiet<Type>(a * b);
  } else {
    using Bits = decltype(a == b);
    const Bits x = reinterpret_cast<Bits>(a);
    const Bits y = reinterpret_cast<Bits>(b);
    const Value same = reinterpret_cast<Value>(kOp == ReduceOp::kMin ? x | y : x & y);
    const Bits first = kOp == ReduceOp::kMin ? a < b : b < a;
    const Value chosen = a == b ? same : (first ? a : b);
    const Bits ordered = (a <= b) | (b < a);  // false when either is a NaN
    return ordered ? chosen : broadcast<Type>(static_cast<typename Type::Scalar>(__builtin_nanf("")));
  }
}

template <class Type, ReduceOp kOp>
HOCKET_WIDE_INLINE typename Type::Value apply(typename Type::Value a, typename Type::Value b) {
  if constexpr (std::is_floating_point_v<typename Type::Scalar>) {
    return apply_float<Type, kOp>(a, b);
  } else if constexpr (kOp == ReduceOp::kSum || kOp == ReduceOp::kProd) {
    using Unsigned = VectorOf<std::make_unsigned_t<typename Type::Scalar>>;
    const Unsigned x = reinterpret_cast<Unsigned>(a);
    const Unsigned y = reinterpret_cast<Unsigned>(b);
    return reinterpret_cast<typename Type::Value>(kOp == ReduceOp::kSum ? x + y : x * y);
  } else if constexpr (kOp == ReduceOp::kMin) {
    return a < b ? a : b;
  } else {
    return a < b ? b : a;
  }
}

/// Fewer elements than a vector holds.
template <class Type, ReduceOp kOp>
HOCKET_WIDE void combine_part(std::byte* target, const std::byte* a, const std::byte* b, std::size_t bytes) {
  using Stored = typename Type::Stored;
  alignas(64) std::byte left[sizeof(Stored)] = {};
  alignas(64) std::byte right[sizeof(Stored)] = {};
  std::memcpy(left, a, bytes);
  std::memcpy(right, b, bytes);
  store(left, Type::write(apply<Type, kOp>(Type::read(load<Stored>(left)), Type::read(load<Stored>(right)))));
  std::memcpy(target, left, bytes);
}

/// From so many bytes on stores of whole vectors that lie within a line each pay for the way to the first boundary.
inline constexpr std::size_t kAlignBytesMin = 4096;

/// Bytes before the first vector boundary at or after `address`, or `all` when whole elements never reach one.
inline std::size_t bytes_to_boundary(const std::byte* address, std::size_t vector, std::size_t element,
                                     std::size_t all) {
  const std::size_t bytes = -reinterpret_cast<std::uintptr_t>(address) % vector;
  return bytes % element == 0 && bytes < all ? bytes : all;
}

template <class Type, ReduceOp kOp>
HOCKET_WIDE void combine(void* to, const void* first, const void* second, std::size_t count, Stores stores) {
  using Stored = typename Type::Stored;
  constexpr std::size_t kStep = sizeof(Stored);
  const std::size_t bytes = count * Type::kElementBytes;
  auto* target = static_cast<std::byte*>(to);
  const auto* a = static_cast<const std::byte*>(first);
  const auto* b = static_cast<const std::byte*>(second);
  std::size_t i = 0;
  const auto at = [&](std::size_t j) __attribute__((target(HOCKET_WIDE_TARGET), always_inline)) {
    return Type::write(apply<Type, kOp>(Type::read(load<Stored>(a + j)), Type::read(load<Stored>(b + j))));
  };
  const std::size_t head = bytes_to_boundary(target, kStep, Type::kElementBytes, bytes);
  if (head < bytes && (stores == Stores::kStreaming || bytes >= kAlignBytesMin)) {
    if (head > 0) combine_part<Type, kOp>(target, a, b, head);
    i = head;
  }
  if (stores == Stores::kStreaming && head < bytes) {
    for (; i + kStep <= bytes; i += kStep) stream(target + i, at(i));
    _mm_sfence();
  }
  for (; i + 2 * kStep <= bytes; i += 2 * kStep) {
    const Stored x = at(i);
    const Stored y = at(i + kStep);
    store(target + i, x);
    store(target + i + kStep, y);
  }
  for (; i + kStep <= bytes; i += kStep) store(target + i, at(i));
  if (i < bytes) combine_part<Type, kOp>(target + i, a + i, b + i, bytes - i);
}

template <class Type>
HOCKET_WIDE void scale_float(void* to, std::size_t count, std::uint32_t divisor) {
  using Stored = typename Type::Stored;
  const auto by = broadcast<Type>(static_cast<typename Type::Scalar>(divisor));
  auto* target = static_cast<std::byte*>(to);
  const std::size_t bytes = count * Type::kElementBytes;
  for (std::size_t i = 0; i < bytes; i += sizeof(Stored)) {
    alignas(64) std::byte part[sizeof(Stored)] = {};
    const std::size_t here = bytes - i < sizeof(Stored) ? bytes - i : sizeof(Stored);
    if (here == sizeof(Stored)) {
      store(target + i, Type::write(quiet<Type>(Type::read(load<Stored>(target + i)) / by)));
    } else {
      std::memcpy(part, target + i, here);
      store(part, Type::write(quiet<Type>(Type::read(load<Stored>(part)) / by)));
      std::memcpy(target + i, part, here);
    }
  }
}

/// memcpy() of some systems takes twice as long where source and target lie differently within their lines.
HOCKET_WIDE inline void copy(void* to, const void* from, std::size_t bytes, Stores stores) {
  using Stored = VectorOf<std::uint8_t>;
  constexpr std::size_t kStep = sizeof(Stored);
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t head = bytes_to_boundary(target, kStep, 1, bytes);
  const bool streams = stores == Stores::kStreaming;
  if (head >= bytes || (!streams && bytes < kAlignBytesMin)) {
    if (bytes > 0) std::memcpy(target, source, bytes);
    return;
  }
  if (head > 0) std::memcpy(target, source, head);
  std::size_t i = head;
  for (; streams && i + kStep <= bytes; i += kStep) stream(target + i, load<Stored>(source + i));
  if (streams) _mm_sfence();
  for (; i + 4 * kStep <= bytes; i += 4 * kStep) {
    for (std::size_t j = i; j < i + 4 * kStep; j += kStep) store(target + j, load<Stored>(source + j));
  }
  if (i < bytes) std::memcpy(target + i, source + i, bytes - i);
}

template <class Type>
std::array<CombineKernel, 4> combine_row() {
  return {combine<Type, ReduceOp::kSum>, combine<Type, ReduceOp::kProd>, combine<Type, ReduceOp::kMin>,
          combine<Type, ReduceOp::kMax>};
}

/// Integer division has no vector instruction: the portable kernels serve.
[[maybe_unused]] inline KernelTable wide_table() {
  KernelTable table = *portable_kernels();
  table.combine = {combine_row<Plain<std::int8_t>>(),
                   combine_row<Plain<std::uint8_t>>(),
                   combine_row<Plain<std::int32_t>>(),
                   combine_row<Plain<std::uint32_t>>(),
                   combine_row<Plain<std::int64_t>>(),
                   combine_row<Plain<std::uint64_t>>(),
                   combine_row<F16>(),
                   combine_row<Bf16>(),
                   combine_row<Plain<float>>(),
                   combine_row<Plain<double>>()};
  const auto set = [&table](DataType type, ScaleKernel kernel) {
    table.scale[static_cast<std::size_t>(type)] = kernel;
  };
  set(DataType::kF16, scale_float<F16>);
  set(DataType::kBf16, scale_float<Bf16>);
  set(DataType::kF32, scale_float<Plain<float>>);
  set(DataType::kF64, scale_float<Plain<double>>);
  table.copy = copy;
  return table;
}

}  // namespace
}  // namespace hocket

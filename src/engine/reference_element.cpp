#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/reference.h"

// Written from the definitions with library functions, on purpose unlike the kernels.
namespace hocket {
namespace {

/// A binary format by its sizes; converts by powers of two and rounds by hand.
struct SmallFloat {
  int mantissa_bits;
  int exponent_bits;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  [[nodiscard]] double value(std::uint16_t bits) const {
    const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    double magnitude = 0;
    if (exponent == (1 << exponent_bits) - 1) {
      magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
      magnitude = std::ldexp(mantissa, 1 - bias() - mantissa_bits);
    } else {
      magnitude = std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias() - mantissa_bits);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }

  [[nodiscard]] std::uint16_t bits(double v) const {
    const int top = ((1 << exponent_bits) - 1) << mantissa_bits;
    if (std::isnan(v)) return static_cast<std::uint16_t>(top | 1 << (mantissa_bits - 1));
    const int sign = std::signbit(v) ? 0x8000 : 0;
    const double magnitude = std::fabs(v);
    if (std::isinf(v)) return static_cast<std::uint16_t>(sign | top);
    int exponent = magnitude == 0 ? 1 - bias() : std::max(std::ilogb(magnitude), 1 - bias());
    // nearbyint rounds halves to even; a carry into the next power of two is the next bit pattern.
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
    const int pattern = units + ((exponent + bias() - 1) << mantissa_bits);
    return static_cast<std::uint16_t>(sign | std::min(pattern, top));
  }
};

constexpr SmallFloat kHalf{10, 5};
constexpr SmallFloat kBrain{7, 8};

template <class T>
T combine_floats(ReduceOp op, T a, T b) {
  T r = 0;
  if (std::isnan(a) || std::isnan(b)) {
    r = std::numeric_limits<T>::quiet_NaN();
  } else if (op == ReduceOp::kProd) {
    r = a * b;
  } else if (op == ReduceOp::kMin) {
    r = a < b || (a == b && std::signbit(a)) ? a : b;
  } else if (op == ReduceOp::kMax) {
    r = a > b || (a == b && !std::signbit(a)) ? a : b;
  } else {
    r = a + b;
  }
  return std::isnan(r) ? std::numeric_limits<T>::quiet_NaN() : r;
}

template <class T>
T combine_integers(ReduceOp op, T a, T b) {
  using Wide = unsigned __int128;
  if (op == ReduceOp::kProd) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  if (op == ReduceOp::kMin) return a < b ? a : b;
  if (op == ReduceOp::kMax) return a > b ? a : b;
  return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// Calls `action` with a value of the type's C++ type; the two small floats go to `small`.
template <class Action, class Small>
void with_type(DataType type, Action&& action, Small&& small) {
  switch (type) {
    case DataType::kI8:
      return action(std::int8_t{});
    case DataType::kU8:
      return action(std::uint8_t{});
    case DataType::kI32:
      return action(std::int32_t{});
    case DataType::kU32:
      return action(std::uint32_t{});
    case DataType::kI64:
      return action(std::int64_t{});
    case DataType::kU64:
      return action(std::uint64_t{});
    case DataType::kF32:
      return action(float{});
    case DataType::kF64:
      return action(double{});
    case DataType::kF16:
      return small(kHalf);
    case DataType::kBf16:
      return small(kBrain);
  }
}

}  // namespace

void combine_element(const BoundCollective& what, std::byte* target, const std::byte* a, const std::byte* b) {
  const auto any = [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      put(target, combine_floats(what.op, get<T>(a), get<T>(b)));
    } else {
      put(target, combine_integers(what.op, get<T>(a), get<T>(b)));
    }
  };
  const auto small = [&](const SmallFloat& format) {
    const auto x = static_cast<float>(format.value(get<std::uint16_t>(a)));
    const auto y = static_cast<float>(format.value(get<std::uint16_t>(b)));
    put(target, format.bits(combine_floats(what.op, x, y)));
  };
  with_type(what.type, any, small);
}

void divide_element(const BoundCollective& what, std::byte* target, std::uint32_t divisor) {
  const auto any = [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const T r = get<T>(target) / static_cast<T>(divisor);
      put(target, std::isnan(r) ? std::numeric_limits<T>::quiet_NaN() : r);
    } else {
      put(target, static_cast<T>(static_cast<__int128>(get<T>(target)) / static_cast<__int128>(divisor)));
    }
  };
  const auto small = [&](const SmallFloat& format) {
    const auto x = static_cast<float>(format.value(get<std::uint16_t>(target)));
    put(target, format.bits(x / static_cast<float>(divisor)));
  };
  with_type(what.type, any, small);
}

}  // namespace hocket

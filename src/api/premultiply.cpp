#include "api/premultiply.h"

#include <cstring>

#include "engine/half.h"

namespace hocket {
namespace {

template <class T, class Multiply>
void for_each_element(const std::byte* source, std::byte* target, std::int64_t count, Multiply multiply) {
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, source + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    value = multiply(value);
    std::memcpy(target + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

/// Unsigned arithmetic wraps, and gives the bits that signed values have too.
template <class T>
void multiply_whole(const Reduction& by, const std::byte* source, std::byte* target, std::int64_t count) {
  const auto scale = static_cast<std::uint64_t>(by.whole_scale);
  for_each_element<T>(source, target, count, [scale](T value) { return static_cast<T>(value * scale); });
}

}  // namespace

void premultiply(DataType type, const Reduction& by, const std::byte* source, std::byte* target, std::int64_t count) {
  const auto single = static_cast<float>(by.scale);
  switch (type) {
    case DataType::kI8:
    case DataType::kU8:
      return multiply_whole<std::uint8_t>(by, source, target, count);
    case DataType::kI32:
    case DataType::kU32:
      return multiply_whole<std::uint32_t>(by, source, target, count);
    case DataType::kI64:
    case DataType::kU64:
      return multiply_whole<std::uint64_t>(by, source, target, count);
    case DataType::kF16:
      return for_each_element<std::uint16_t>(
          source, target, count, [single](std::uint16_t v) { return f16_from_f32(f32_from_f16(v) * single); });
    case DataType::kBf16:
      return for_each_element<std::uint16_t>(
          source, target, count, [single](std::uint16_t v) { return bf16_from_f32(f32_from_bf16(v) * single); });
    case DataType::kF32:
      return for_each_element<float>(source, target, count, [single](float v) { return v * single; });
    case DataType::kF64:
      return for_each_element<double>(source, target, count, [by](double v) { return v * by.scale; });
  }
}

}  // namespace hocket

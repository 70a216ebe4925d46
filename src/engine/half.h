// f16 and bf16 to f32 and back, one value at a time, in integer arithmetic: the meaning that every kernel path shares.
// Back: round to nearest even, overflow to infinity, any NaN becomes the quiet NaN with sign 0 and empty payload.
// Threading: pure functions. Refuses: nothing; every bit pattern has a value.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hocket {

[[nodiscard]] inline float f32_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

[[nodiscard]] inline std::uint16_t bf16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

[[nodiscard]] inline float f32_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fff);
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // 2^112 corrects the exponent bias; the product is exact, also for subnormal halves.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

[[nodiscard]] inline std::uint16_t f16_from_f32(float value) {
  if (std::isnan(value)) return 0x7e00;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 2^16 and above
  if (magnitude < 0x38800000) {                                                   // below 2^-14: subnormal half
    // Adding 2^-1 aligns the last bit of a subnormal half with the last bit of the sum, which rounds to even.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000));
  }
  const std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

}  // namespace hocket

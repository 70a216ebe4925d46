// Figure: a number with its unit and where it comes from, and its exact text ("900GB/s", "120TFLOPS", "0.44pJ/FLOP").
// A figure without a source is an assumption; descriptions list those by name, so nobody takes them for facts.
// Texts parse and print exactly: what format_figure() writes reads back as the same number.
// Threading: plain values. Refuses: missing or wrong units, zero and negative values where the unit forbids them,
// values that are not finite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

struct Figure {
  double value = 0;    // in the SI base unit of its field
  std::string source;  // empty: assumed
  bool operator==(const Figure&) const = default;
  [[nodiscard]] bool sourced() const { return !source.empty(); }
};

enum class FigureUnit : std::uint8_t {
  kCount,
  kBytes,
  kBandwidth,  // B/s
  kTime,       // s
  kClock,      // Hz
  kRate,       // FLOP/s
  kPower,      // W
  kPerFlop,    // J/FLOP
  kPerByte,    // J/B
};

/// "a bandwidth such as 900GB/s".
[[nodiscard]] std::string_view describe(FigureUnit unit);
/// The suffix of the SI base unit in JSON keys: "_Bps", "_s" ...; empty for counts.
[[nodiscard]] std::string_view json_suffix(FigureUnit unit);

[[nodiscard]] Result<double> parse_figure(FigureUnit unit, std::string_view text);
/// The shortest text that parse_figure() reads back as the same value.
[[nodiscard]] std::string format_figure(FigureUnit unit, double value);

}  // namespace hocket

// Physical quantities as strong types, their exact text forms and back.
// Bytes count in int64, simulated time in integer picoseconds (Picos); the rest are doubles in SI base units.
// Text: decimal prefixes are powers of 1000, binary ones (Ki, Mi, Gi) of 1024; 'b' is a bit, 'B' a byte.
// Refuses: missing units, negative, non-finite and overflowing values (an Error naming the text).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

/// Simulated time or duration, integer picoseconds (106 days fit).
struct Picos {
  std::int64_t count = 0;
  auto operator<=>(const Picos&) const = default;
  friend Picos operator+(Picos a, Picos b) { return {a.count + b.count}; }
  friend Picos operator-(Picos a, Picos b) { return {a.count - b.count}; }
};

struct Seconds {
  double value = 0;
  auto operator<=>(const Seconds&) const = default;
};

/// Bandwidth in bytes per second.
struct BytesPerSecond {
  double value = 0;
  auto operator<=>(const BytesPerSecond&) const = default;
};

[[nodiscard]] constexpr Seconds to_seconds(Picos t) { return {static_cast<double>(t.count) * 1e-12}; }
/// Rounded to the nearest picosecond. Requires |t| < 9.2e6 s.
[[nodiscard]] Picos to_picos(Seconds t);
/// The nearest, or the next one up when that lies below by more than the noise of a double: never too short a latency.
[[nodiscard]] Picos to_picos_at_least(Seconds t);
/// Serialisation time, rounded up so that a simulated link never beats its rate.
[[nodiscard]] Picos transfer_time(Bytes size, BytesPerSecond rate);

/// "64MiB", "1GB", "4096B", "4096" (a bare count means bytes).
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);
/// "150ns", "0.5us", "1ms", "2s"; zero is allowed.
[[nodiscard]] Result<Seconds> parse_seconds(std::string_view text);
/// "16GB/s", "25Gb/s", "100Mbit/s", "10GiB/s"; must be above zero.
[[nodiscard]] Result<BytesPerSecond> parse_bandwidth(std::string_view text);

/// Exact: the largest binary unit that divides the count, otherwise plain bytes ("64MiB", "1000B").
[[nodiscard]] std::string format_bytes(Bytes size);
/// Readable with three to four significant digits: "150 ns", "5.37 ms".
[[nodiscard]] std::string format_seconds(Seconds t);
/// Readable, decimal prefixes: "16 GB/s", "8.53 GB/s".
[[nodiscard]] std::string format_bandwidth(BytesPerSecond rate);
/// Shortest text that parses back to the same value: "16GB/s", "150ns".
[[nodiscard]] std::string exact_seconds(Seconds t);
[[nodiscard]] std::string exact_bandwidth(BytesPerSecond rate);

}  // namespace hocket

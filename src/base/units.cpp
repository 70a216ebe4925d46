#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/assert.h"

namespace hocket {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kByteUnits{Unit{"B", 1},
                                Unit{"KB", 1e3},
                                Unit{"kB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"KiB", 1024.0},
                                Unit{"MiB", 1048576.0},
                                Unit{"GiB", 1073741824.0},
                                Unit{"TiB", 1099511627776.0}};
constexpr std::array kBitUnits{Unit{"b", 0.125},    Unit{"Kb", 125.0},   Unit{"kb", 125.0},   Unit{"Mb", 125e3},
                               Unit{"Gb", 125e6},   Unit{"Tb", 125e9},   Unit{"bit", 0.125},  Unit{"Kbit", 125.0},
                               Unit{"kbit", 125.0}, Unit{"Mbit", 125e3}, Unit{"Gbit", 125e6}, Unit{"Tbit", 125e9}};
constexpr std::array kTimeUnits{Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9}, Unit{"ps", 1e-12}};

struct Split {
  double number;
  std::string_view unit;
};

Result<Split> split_number(std::string_view text, const char* what) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return fail(Code::kInvalidArgument, "'{}' is not a {}: no number", text, what);
  if (!std::isfinite(number) || number < 0) {
    return fail(Code::kInvalidArgument, "'{}' is not a {}: must be finite and not negative", text, what);
  }
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return Split{number, unit};
}

template <std::size_t N>
std::optional<double> factor_of(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

std::string shortest(double value, std::string_view unit) { return fmt::format("{}{}", value, unit); }

template <std::size_t N>
std::string readable(double value, const std::array<Unit, N>& descending) {
  for (const Unit& unit : descending) {
    if (value >= unit.factor * 0.9995 || &unit == &descending.back()) {
      return fmt::format("{:.4g} {}", value / unit.factor, unit.name);
    }
  }
  return {};
}

}  // namespace

Picos to_picos(Seconds t) {
  HOCKET_ASSERT(std::isfinite(t.value) && std::fabs(t.value) < 9.2e6, "time out of range");
  return {std::llround(t.value * 1e12)};
}

Picos to_picos_at_least(Seconds t) {
  Picos rounded = to_picos(t);
  if (static_cast<double>(rounded.count) < t.value * 1e12 * (1 - 1e-12)) ++rounded.count;
  return rounded;
}

Picos transfer_time(Bytes size, BytesPerSecond rate) {
  HOCKET_ASSERT(rate.value > 0, "rate must be positive");
  const long double picos = static_cast<long double>(size.count) * 1e12L / static_cast<long double>(rate.value);
  HOCKET_ASSERT(picos < 9.2e18L, "transfer time out of range");
  return {static_cast<std::int64_t>(std::ceil(picos))};
}

Result<Bytes> parse_bytes(std::string_view text) {
  HOCKET_TRY_ASSIGN(const Split split, split_number(text, "size"));
  const std::optional<double> factor = factor_of(kByteUnits, split.unit);
  if (split.unit.empty() && split.number == 0) return Bytes{0};
  if (split.unit.empty())
    return fail(Code::kInvalidArgument, "'{}' is not a size: needs a unit (B, KB, KiB, MiB, GiB)", text);
  if (!factor)
    return fail(Code::kInvalidArgument, "'{}' is not a size: unknown unit '{}' (B, KB, MiB, ...)", text, split.unit);
  const double bytes = split.number * *factor;
  if (bytes >= 9.2e18) return fail(Code::kInvalidArgument, "'{}' is too large: more than 2^63 bytes", text);
  if (bytes != std::floor(bytes)) return fail(Code::kInvalidArgument, "'{}' is not a whole number of bytes", text);
  return Bytes{static_cast<std::int64_t>(bytes)};
}

Result<Seconds> parse_seconds(std::string_view text) {
  HOCKET_TRY_ASSIGN(const Split split, split_number(text, "time"));
  const std::optional<double> factor = factor_of(kTimeUnits, split.unit);
  if (!factor) return fail(Code::kInvalidArgument, "'{}' is not a time: needs a unit (s, ms, us, ns, ps)", text);
  // Dividing by the inverse keeps "150ns" equal to the literal 150e-9.
  const double value = *factor == 1 ? split.number : split.number / std::round(1.0 / *factor);
  if (value > 1e6) return fail(Code::kInvalidArgument, "'{}' is too long: more than 10^6 s", text);
  return Seconds{value};
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  HOCKET_TRY_ASSIGN(const Split split, split_number(text, "bandwidth"));
  std::string_view unit = split.unit;
  if (unit.size() < 2 || unit.substr(unit.size() - 2) != "/s") {
    return fail(Code::kInvalidArgument, "'{}' is not a bandwidth: needs a unit per second (GB/s, Gb/s, GiB/s)", text);
  }
  unit.remove_suffix(2);
  std::optional<double> factor = factor_of(kByteUnits, unit);
  if (!factor) factor = factor_of(kBitUnits, unit);
  if (!factor) return fail(Code::kInvalidArgument, "'{}' is not a bandwidth: unknown unit '{}/s'", text, unit);
  const double value = split.number * *factor;
  if (!(value > 0)) return fail(Code::kInvalidArgument, "'{}' is not a bandwidth: must be above zero", text);
  if (value > 1e18) return fail(Code::kInvalidArgument, "'{}' is too large: more than 10^18 B/s", text);
  if (value < 1) return fail(Code::kInvalidArgument, "'{}' is too small: less than 1 B/s", text);
  return BytesPerSecond{value};
}

std::string format_bytes(Bytes size) {
  constexpr std::array units{std::string_view{"TiB"}, std::string_view{"GiB"}, std::string_view{"MiB"},
                             std::string_view{"KiB"}};
  std::int64_t factor = std::int64_t{1} << 40;
  for (const std::string_view unit : units) {
    if (size.count != 0 && size.count % factor == 0) return fmt::format("{}{}", size.count / factor, unit);
    factor >>= 10;
  }
  return fmt::format("{}B", size.count);
}

std::string format_seconds(Seconds t) { return readable(t.value, kTimeUnits); }

std::string format_bandwidth(BytesPerSecond rate) {
  constexpr std::array units{Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6}, Unit{"KB/s", 1e3},
                             Unit{"B/s", 1}};
  return readable(rate.value, units);
}

std::string exact_seconds(Seconds t) {
  for (const Unit& unit : {Unit{"ns", 1e9}, Unit{"us", 1e6}, Unit{"ms", 1e3}}) {
    const double scaled = std::round(t.value * unit.factor);
    if (scaled < 1e6 && scaled / unit.factor == t.value) return shortest(scaled, unit.name);
  }
  return shortest(t.value, "s");
}

std::string exact_bandwidth(BytesPerSecond rate) {
  for (const Unit& unit : {Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6}}) {
    const double scaled = rate.value / unit.factor;
    if (scaled >= 0.01 && scaled * unit.factor == rate.value && fmt::format("{}", scaled).size() <= 8)
      return shortest(scaled, unit.name);
  }
  return shortest(rate.value, "B/s");
}

}  // namespace hocket

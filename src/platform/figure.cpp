#include "platform/figure.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "base/units.h"

namespace hocket {
namespace {

struct Prefixed {
  std::string_view unit;
  double scale;  // what one of it is worth, or
  double parts;  // how many of it make one (exact where 1 / parts is not)
};

constexpr std::array kClocks{Prefixed{"GHz", 1e9, 1}, Prefixed{"MHz", 1e6, 1}, Prefixed{"kHz", 1e3, 1},
                             Prefixed{"Hz", 1, 1}};
constexpr std::array kRates{Prefixed{"PFLOPS", 1e15, 1}, Prefixed{"TFLOPS", 1e12, 1}, Prefixed{"GFLOPS", 1e9, 1},
                            Prefixed{"MFLOPS", 1e6, 1}, Prefixed{"FLOPS", 1, 1}};
constexpr std::array kPowers{Prefixed{"kW", 1e3, 1}, Prefixed{"W", 1, 1}, Prefixed{"mW", 1, 1e3},
                             Prefixed{"uW", 1, 1e6}};
constexpr std::array kFlopEnergies{Prefixed{"nJ/FLOP", 1, 1e9}, Prefixed{"pJ/FLOP", 1, 1e12},
                                   Prefixed{"fJ/FLOP", 1, 1e15}, Prefixed{"J/FLOP", 1, 1}};
constexpr std::array kByteEnergies{Prefixed{"nJ/B", 1, 1e9}, Prefixed{"pJ/B", 1, 1e12}, Prefixed{"fJ/B", 1, 1e15},
                                   Prefixed{"J/B", 1, 1}};

std::span<const Prefixed> units_of(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kClock:
      return kClocks;
    case FigureUnit::kRate:
      return kRates;
    case FigureUnit::kPower:
      return kPowers;
    case FigureUnit::kPerFlop:
      return kFlopEnergies;
    case FigureUnit::kPerByte:
      return kByteEnergies;
    default:
      return {};
  }
}

constexpr double kLargest = 1e18;

Result<double> parse_prefixed(FigureUnit unit, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (error == std::errc{} && std::isfinite(number) && number > 0) {
    for (const Prefixed& p : units_of(unit)) {
      if (p.unit == rest && number * p.scale <= kLargest) return number * p.scale / p.parts;
    }
  }
  return fail(Code::kInvalidArgument, "'{}' is not {}", text, describe(unit));
}

Result<double> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 32;
  if (error == std::errc{} && end == text.data() + text.size() && count > 0 && count <= kCountMax)
    return static_cast<double>(count);
  return fail(Code::kInvalidArgument, "'{}' is not {}", text, describe(FigureUnit::kCount));
}

/// Values come from text or from constants; the loop finds the unit in which the number is shortest and exact.
std::string format_prefixed(FigureUnit unit, double value) {
  std::string best;
  for (const Prefixed& p : units_of(unit)) {
    const double number = value * p.parts / p.scale;
    for (const double tried : {std::round(number * 1000) / 1000, number}) {
      const std::string text = fmt::format("{}{}", tried, p.unit);
      const auto again = parse_prefixed(unit, text);
      if (again && *again == value && (best.empty() || text.size() < best.size())) best = text;
    }
  }
  return best.empty() ? fmt::format("{}{}", value, units_of(unit).back().unit) : best;
}

}  // namespace

std::string_view describe(FigureUnit unit) {
  constexpr std::array<std::string_view, 9> kWords{
      "a whole number above 0", "a size such as 32GB",           "a bandwidth such as 900GB/s",
      "a time such as 500ns",   "a clock such as 1245MHz",       "a rate such as 120TFLOPS",
      "a power such as 700W",   "an energy such as 0.44pJ/FLOP", "an energy such as 93pJ/B",
  };
  return kWords[static_cast<std::size_t>(unit)];
}

std::string_view json_suffix(FigureUnit unit) {
  constexpr std::array<std::string_view, 9> kWords{"",        "_bytes", "_Bps",        "_s",      "_Hz",
                                                   "_FLOPps", "_W",     "_J_per_FLOP", "_J_per_B"};
  return kWords[static_cast<std::size_t>(unit)];
}

Result<double> parse_figure(FigureUnit unit, std::string_view text) {
  switch (unit) {
    case FigureUnit::kCount:
      return parse_count(text);
    case FigureUnit::kBytes: {
      HOCKET_TRY_ASSIGN(const Bytes bytes, parse_bytes(text));
      if (bytes.count == 0) return fail(Code::kInvalidArgument, "'{}' is not a size: must be above zero", text);
      return static_cast<double>(bytes.count);
    }
    case FigureUnit::kBandwidth: {
      HOCKET_TRY_ASSIGN(const BytesPerSecond rate, parse_bandwidth(text));
      return rate.value;
    }
    case FigureUnit::kTime: {
      HOCKET_TRY_ASSIGN(const Seconds time, parse_seconds(text));
      return time.value;
    }
    default:
      return parse_prefixed(unit, text);
  }
}

std::string format_figure(FigureUnit unit, double value) {
  switch (unit) {
    case FigureUnit::kCount:
      return fmt::format("{:.0f}", value);
    case FigureUnit::kBytes:
      return format_bytes({static_cast<std::int64_t>(value)});
    case FigureUnit::kBandwidth:
      return exact_bandwidth({value});
    case FigureUnit::kTime:
      return exact_seconds({value});
    default:
      return format_prefixed(unit, value);
  }
}

}  // namespace hocket

// hocket's sweep files: which training steps or collectives to simulate, as a grid over any field.
//   hocket: sweep                            vary:                     # every combination, the last key fastest
//   name: "memory of the engine"               engine.sram: [1MiB, 2MiB, 4MiB]
//   set: {platform: "ace:4x4x4",             plot: {x: engine.sram, y: network_rate_Bps}
//         endpoint: ace, collective: all_reduce, size: 64MiB}
// `vary` may be a list of such maps instead: the keys of one map then move together and have equally long lists.
// Ownership: plain values; each knows where it stands. Threading: pure functions.
// Refuses: unknown keys of the file, keys that stand twice, lists that are empty or not equally long, grids above
// kSweepPointsMax; what the fields mean is checked by who runs them (sweep/step_case.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

inline constexpr std::uint64_t kSweepPointsMax = 100000;

struct SweepSetting {
  std::string key;
  std::string value;
  std::string place;  // "file:7:12"
};

/// Keys that move together: every step sets all of them.
struct SweepAxis {
  std::vector<std::vector<SweepSetting>> steps;
};

struct SweepPlot {
  std::string x;  // a key that varies; empty: the first
  std::string y;  // a figure of the result; empty: what suits
  std::string place;
};

struct Sweep {
  std::string file_name;
  std::string name;
  std::string description;
  std::vector<SweepSetting> fixed;
  std::vector<SweepAxis> axes;
  SweepPlot plot;

  [[nodiscard]] std::uint64_t points() const;
  /// Keys that vary, in the order of the file.
  [[nodiscard]] std::vector<std::string> varied() const;
  /// What varies at a point, in that order.
  [[nodiscard]] std::vector<SweepSetting> at(std::uint64_t point) const;
};

/// True for text that says `hocket: sweep`.
[[nodiscard]] bool looks_like_sweep(std::string_view text);
[[nodiscard]] Result<Sweep> read_sweep(std::string_view text, std::string_view file_name);
[[nodiscard]] Result<Sweep> load_sweep(const std::string& path);

}  // namespace hocket

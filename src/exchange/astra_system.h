// ASTRA-sim's system JSON: scheduling, the algorithm of every collective (one per network dimension), the rates of an
// npu. Read once, for `doctor`, for platforms and for the rules of --astra-compat. What is absent stays absent.
//   {"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits":
//   4,
//    "all-reduce-implementation": ["ring"], ..., "local-mem-bw": 1600, "peak-perf": 900}
// Ownership: the result owns its text. Threading: pure functions. Refuses: values that are none of their key's, lists
// of unequal length (both lengths), keys that are almost a known one; other unknown keys are losses, as ASTRA-sim has
// forks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/loss.h"
#include "platform/platform.h"

namespace hocket {

/// In the order of AstraSystem::algorithms.
inline constexpr std::array<std::string_view, 4> kAstraCollectives{"all-reduce", "all-gather", "reduce-scatter",
                                                                   "all-to-all"};

struct AstraSystem {
  /// A key that is known, as it stands in the file.
  struct Entry {
    std::string key;
    std::string value;
    std::string where;  // "line 3"
  };
  std::vector<Entry> entries;  // in file order
  std::size_t dimensions = 0;  // entries of every list of algorithms
  std::array<std::vector<std::string>, 4> algorithms;
  std::optional<CollectiveOrder> order;
  bool explicit_order = false;  // the third policy: priorities of the trace
  std::optional<double> endpoint_delay_ns;
  std::optional<double> local_memory_GBps;
  std::optional<double> peak_TFLOPS;
  std::optional<std::uint32_t> active_chunks;
  std::optional<std::uint32_t> splits;
  bool bandwidth_aware = false;  // collective-optimization is localBWAware
  bool roofline = false;
  bool replay_only = false;
  LossReport losses;

  /// Null when the file does not have the key.
  [[nodiscard]] const Entry* find(std::string_view key) const;
};

[[nodiscard]] bool looks_like_astra_system(std::string_view text);
[[nodiscard]] Result<AstraSystem> read_astra_system(std::string_view text, std::string_view file_name);

}  // namespace hocket

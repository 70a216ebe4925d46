// The CSV table of NCCL's example tuner plug-in: which algorithm for which sizes.
//   collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
// -1 matches anything; the first line that matches counts. Ownership: plain values. Threading: pure functions.
// Refuses: what the plug-in would take for something else without a word: unknown collectives, algorithms, protocols,
// lines of over 255 bytes, wrong numbers of fields; with line and column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/collective.h"

namespace hocket {

struct TunerLine {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t from = 0, to = 0;  // bytes, both ends included
  std::string algorithm;           // NCCL's word: "ring", "tree" ...
  std::string protocol = "simple";
  std::int64_t channels = -1, nodes = -1, ranks = -1, pipe_ops = -1, registered = -1;
  std::size_t line = 0;  // of the file; 0 when written
  bool operator==(const TunerLine&) const = default;
};

/// NCCL's word for an algorithm of ours, or "" where NCCL has no such algorithm.
[[nodiscard]] std::string_view nccl_algorithm(std::string_view ours);

[[nodiscard]] bool is_nccl_tuner(std::string_view text);
[[nodiscard]] Result<std::vector<TunerLine>> read_nccl_tuner(std::string_view text, std::string_view file_name);
/// Refuses all_to_all, which the plug-in is never asked about. `note` becomes a comment at the top.
[[nodiscard]] Result<std::string> write_nccl_tuner(std::span<const TunerLine> lines, std::string_view note);

}  // namespace hocket

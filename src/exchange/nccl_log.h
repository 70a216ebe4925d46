// Logs of nccl-tests (and of rccl-tests and `hocket bench`, which print the same): the table of sizes and times on
// stdout, or the JSON document of -J. Columns are found by their heading; both halves of a row are taken (out of place,
// in place). Ranks are counted from the lines (or entries) that name them. The collective is what the header or the
// arguments say; where they do not, it follows from reduction and root, and all-gather is assumed over all-to-all.
// Ownership: returns values. Threading: pure functions. Refuses: rows that are cut or hold no numbers, times that do
// not fit their bandwidth, logs without rows or ranks: with file and line (JSON: entry). Rows with wrong results, rows
// of no bytes and lines of others are left out and reported.
#pragma once

#include <string_view>
#include <vector>

#include "base/units.h"
#include "exchange/loss.h"
#include "schedule/collective.h"

namespace hocket {

inline constexpr std::size_t kNcclLogBytesMax = std::size_t{64} << 20;

struct MeasuredTime {
  Bytes size;  // nccl-tests' size column
  Seconds time;
};

struct NcclLog {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 0;
  std::size_t rows = 0;             // with a time that is taken
  std::vector<MeasuredTime> times;  // in the order of the log
  LossReport losses;
};

[[nodiscard]] bool looks_like_nccl_log(std::string_view text);
[[nodiscard]] Result<NcclLog> read_nccl_log(std::string_view text, std::string_view file_name);
[[nodiscard]] Result<NcclLog> load_nccl_log(const std::string& path);

}  // namespace hocket

// The bench's output: nccl-tests' columns, widths and formulas, one column more (the algorithm) at the end, and its
// JSON document of version 3. Comment lines begin with '#'. Ownership: rows are kept for the documents. Threading: one
// owner, rank 0. Refuses: to replace an existing JSON file: a number is put behind its name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_flags.h"
#include "rank_job.h"

namespace hocket {

struct BenchHalf {
  double time_s = 0;
  std::uint64_t wrong = 0;
};

struct BenchRow {
  BoundCollective what;
  std::string algorithm;
  std::int64_t segment_bytes = 0;
  BenchHalf out_of_place;
  BenchHalf in_place;

  [[nodiscard]] double algbw_GBps(const BenchHalf& half) const;
  [[nodiscard]] double busbw_GBps(const BenchHalf& half) const;
  /// nccl-tests' count column: of one rank's part where the kind has parts.
  [[nodiscard]] std::int64_t count_shown() const;
};

class BenchTable {
 public:
  BenchTable(const BenchFlags& flags, const BenchRun& run, const RankJob& job);

  void print_header() const;
  void add(const BenchRow& row);
  void print_footer() const;
  [[nodiscard]] std::uint64_t wrong() const;
  [[nodiscard]] nlohmann::ordered_json document() const;
  /// -J.
  [[nodiscard]] Result<void> write_nccl_json() const;

 private:
  [[nodiscard]] double mean_busbw() const;
  [[nodiscard]] nlohmann::ordered_json nccl_json() const;

  const BenchFlags& flags_;
  const BenchRun& run_;
  const RankJob& job_;
  std::string start_;
  std::vector<BenchRow> rows_;
};

}  // namespace hocket

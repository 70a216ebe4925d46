// The bench's output: nccl-tests' columns, widths and formulas, more columns behind them (the bound on the topology
// that was given, the share of it that each half reaches, the algorithm), and its JSON document of version 3. Comment
// lines begin with '#'. Ownership: rows are kept for the documents. Threading: one owner, rank 0.
// Refuses: to replace an existing JSON file: a number is put behind its name.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench_flags.h"
#include "rank_job.h"

namespace hocket {

struct BenchHalf {
  double time_s = 0;
  std::uint64_t wrong = 0;
};

/// What the column "bound" is about.
struct BenchBound {
  std::string topology;  // "torus:4x4"; empty: there is no bound
  std::string text;      // whose bound it is, or why there is none
};

struct BenchRow {
  BoundCollective what;
  std::string algorithm;
  std::int64_t segment_bytes = 0;
  BenchHalf out_of_place;
  BenchHalf in_place;
  std::optional<double> bound_s;  // nothing without a topology, and where nothing has to move

  /// Bound over time: 1 is as fast as the links permit.
  [[nodiscard]] std::optional<double> fraction_of_bound(const BenchHalf& half) const;
  [[nodiscard]] double algbw_GBps(const BenchHalf& half) const;
  [[nodiscard]] double busbw_GBps(const BenchHalf& half) const;
  /// nccl-tests' count column: of one rank's part where the kind has parts.
  [[nodiscard]] std::int64_t count_shown() const;
};

class BenchTable {
 public:
  BenchTable(const BenchFlags& flags, const BenchRun& run, const RankJob& job, BenchBound bound);

  void print_header() const;
  void add(const BenchRow& row);
  void print_footer() const;
  /// Is the mean bus bandwidth as NCCL_TESTS_MIN_BW wants it?
  [[nodiscard]] bool fast_enough() const;
  [[nodiscard]] nlohmann::ordered_json document() const;
  /// -J.
  [[nodiscard]] Result<void> write_nccl_json() const;

 private:
  [[nodiscard]] double mean_busbw() const;
  [[nodiscard]] nlohmann::ordered_json nccl_json() const;
  [[nodiscard]] nlohmann::ordered_json bound_json() const;

  const BenchFlags& flags_;
  const BenchRun& run_;
  const RankJob& job_;
  BenchBound bound_;
  std::string start_;
  std::vector<BenchRow> rows_;  // unless they never end
  std::uint64_t wrong_ = 0;
  double busbw_sum_GBps_ = 0;
  std::uint64_t halves_ = 0;
};

}  // namespace hocket

// The bench's command line: nccl-tests' letters with their meanings, and what a run of it does, checked.
//   -b -e sizes from, to (K, M, G: powers of 1024)   -f factor or -i step   -n iterations   -w warm-up   -c check
//   -d dtype or all   -o operator or all   -r root or -1 for each   -a time of rank 0, mean, min, max   -J JSON file
//   -m calls of an iteration   -N how often all rows, 0 for ever   -C processor time instead of elapsed time
//   -t 1 -g 1 -p -z -G 0 -R 0 -S 0: what nccl-tests' scripts say, where nothing else can be meant here
// Threading: plain values. Refuses: sizes that are none, a least above the most, unknown words and algorithms, more
// than one rank in a process.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rank_job.h"
#include "schedule/collective.h"

namespace hocket {

enum class Average : std::uint8_t { kRank0, kMean, kMin, kMax };

struct BenchSizes {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double factor = 1;      // above 1, or
  std::int64_t step = 0;  // bytes

  [[nodiscard]] std::vector<std::int64_t> all() const;
};

struct BenchFlags {
  std::string collective;
  std::string first = "32M";
  std::string last = "32M";
  double factor = 0;
  std::string step = "1M";
  std::uint32_t iterations = 20;
  std::uint32_t warmup = 1;
  std::uint32_t calls = 1;   // of an iteration
  std::uint32_t cycles = 1;  // 0: for ever
  std::uint32_t threads = 1;
  std::uint32_t devices = 1;
  bool processor_time = false;
  int side_by_side = 0;  // -p, and
  int waits = 0;         //   -z: the same either way
  std::uint32_t graphs = 0;
  std::uint32_t registered = 0;
  std::uint32_t stamps = 0;
  int check = 1;
  std::string type = "float";
  std::string op = "sum";
  int root = 0;
  int average = 1;
  std::string json_file;
  std::string algorithm = "auto";
  std::string segment;
  bool json = false;

  void declare(CLI::App& app);
  void declare_letters(CLI::App& app);
  void declare_volumes(CLI::App& app);
  void declare_modes(CLI::App& app);
};

struct BenchRun {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  BenchSizes sizes;
  Bytes segment;  // 0: the best by simulation
  std::vector<DataType> types;
  std::vector<ReduceOp> ops;  // one where the kind combines nothing
  Average average = Average::kMean;
  std::optional<double> busbw_least_GBps;  // NCCL_TESTS_MIN_BW: the mean may lie a tenth below
};

/// A number with an optional K, M or G, in bytes.
[[nodiscard]] Result<std::int64_t> parse_bench_size(std::string_view text);
[[nodiscard]] Result<BenchRun> check_flags(const BenchFlags& flags);
/// What makes the rows and the calls of each: the same on every rank. Outputs are rank 0's alone.
[[nodiscard]] std::vector<SharedFlag> shared_flags(const BenchFlags& flags, const BenchRun& run);

}  // namespace hocket

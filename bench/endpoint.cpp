// Endpoint: what an all-reduce takes from compute beside it, and compute from the all-reduce, by where progress runs:
// in the thread that computes (caller), in a thread on its core (shared), in one on a core of its own (dedicated). Two
// processes over shared memory; a matrix product and a triad, cut into slices between which the call is tested.
// In every round each is measured alone and both together, placements and kernels in turn; ratios are formed within a
// round, and their medians and quartiles printed. With fewer than four cores only rank 0 computes: core 0 is for
// compute, core 1 for rank 1 and for dedicated progress. docs/real-ranks.md explains the columns.
//   bench_endpoint --size 16MiB --rounds 15
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#ifdef HOCKET_OPENBLAS
#include <cblas.h>
#endif

#include "base/say.h"
#include "base/units.h"
#include "engine/cores.h"
#include "engine/reduce.h"
#include "hocket/communicator.h"
#include "report/table.h"

namespace hocket {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kRanks = 2;
constexpr std::int64_t kMatrix = 256;
constexpr std::int64_t kRowsOfSlice = 32;
constexpr std::int64_t kTriad = 8 << 20;  // floats in each of three arrays, far beyond the caches
constexpr std::int64_t kTriadSlice = 64 << 10;

struct Options {
  std::string size = "16MiB";
  std::uint32_t rounds = 15;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// C += A B, some rows at a time.
void multiply_rows(const float* a, const float* b, float* c, std::int64_t rows) {
#ifdef HOCKET_OPENBLAS
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), kMatrix, kMatrix, 1, a, kMatrix, b,
              kMatrix, 1, c, kMatrix);
#else
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < kMatrix; ++k) {
      for (std::int64_t j = 0; j < kMatrix; ++j) c[i * kMatrix + j] += a[i * kMatrix + k] * b[k * kMatrix + j];
    }
  }
#endif
}

/// Work in slices of some tens of microseconds.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void slice(std::int64_t index) = 0;
};

class Product final : public Kernel {
 public:
  void slice(std::int64_t index) override {
    const std::int64_t row = index * kRowsOfSlice % kMatrix;
    multiply_rows(&a_[static_cast<std::size_t>(row * kMatrix)], b_.data(), &c_[static_cast<std::size_t>(row * kMatrix)],
                  kRowsOfSlice);
  }

 private:
  static constexpr std::size_t kCells = kMatrix * kMatrix;
  std::vector<float> a_ = std::vector<float>(kCells, 1e-3F);
  std::vector<float> b_ = std::vector<float>(kCells, 1e-3F);
  std::vector<float> c_ = std::vector<float>(kCells, 0);
};

class Triad final : public Kernel {
 public:
  void slice(std::int64_t index) override {
    const auto begin = static_cast<std::size_t>(index * kTriadSlice % kTriad);
    for (std::size_t i = begin; i < begin + kTriadSlice; ++i) a_[i] = b_[i] + 3.0F * c_[i];
  }

 private:
  std::vector<float> a_ = std::vector<float>(kTriad, 0);
  std::vector<float> b_ = std::vector<float>(kTriad, 1);
  std::vector<float> c_ = std::vector<float>(kTriad, 2);
};

struct Placement {
  std::string_view name;
  ProgressMode mode;
  bool beside;  // on the core that computes
};
constexpr std::array kPlacements{Placement{"caller", ProgressMode::kCaller, true},
                                 Placement{"shared core", ProgressMode::kShared, true},
                                 Placement{"dedicated core", ProgressMode::kDedicated, false}};
constexpr std::array<std::string_view, 2> kKernels{"product", "triad"};

/// One round of one kernel and placement; all but the counters in seconds.
struct Sample {
  double kernel = 0, call = 0;                // alone
  double kernel_beside = 0, call_beside = 0;  // together, both from the same start
  double moved = 0;                           // what fetching and combining the call's bytes takes one thread
  ProgressCounters cost;
};

/// What one rank does; rank 1 only communicates where there are too few cores.
class RankBench {
 public:
  RankBench(std::uint32_t rank, const std::vector<std::uint32_t>& cores, std::int64_t bytes, const Options& options)
      : rank_(rank),
        cores_(cores),
        computes_(rank == 0 || cores.size() >= 2 * kRanks),
        rounds_(options.rounds),
        values_(static_cast<std::size_t>(bytes) / sizeof(float), 1) {}

  Result<void> run() {
    HOCKET_TRY(keep_thread_on(cores_[rank_]));
    kernels_[0] = std::make_unique<Product>();
    kernels_[1] = std::make_unique<Triad>();
    for (const Placement& placement : kPlacements) HOCKET_TRY(connect(placement));
    HOCKET_TRY(calibrate());
    for (std::uint32_t round = 0; round <= rounds_; ++round) {  // the first one warms up
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        for (std::size_t p = 0; p < kPlacements.size(); ++p) {
          HOCKET_TRY_ASSIGN(const Sample sample, measure(k, *ranks_[p]));
          if (round > 0) samples_[k][p].push_back(sample);
        }
      }
    }
    if (rank_ == 0) print();
    return {};
  }

 private:
  Result<void> connect(const Placement& placement) {
    CommunicatorOptions options;
    options.transport = "shm";
    options.timeout = std::chrono::minutes(1);
    options.count_time = true;
    options.progress = computes_ ? placement.mode : ProgressMode::kShared;
    const std::size_t apart = cores_.size() >= 2 * kRanks ? kRanks + rank_ : 1;
    options.progress_core = cores_[placement.beside ? rank_ : apart];
    HOCKET_TRY_ASSIGN(Communicator made, Communicator::create(options));
    ranks_.push_back(std::make_unique<Communicator>(std::move(made)));
    return {};
  }

  Result<Work> start(Communicator& ranks) {
    return ranks.start({.operation = Operation::kAllReduce,
                        .input = values_.data(),
                        .output = values_.data(),
                        .count = static_cast<std::int64_t>(values_.size()),
                        .reduction = ReduceOp::kMax});
  }

  /// Both kernels take about as long as a call does alone.
  Result<void> calibrate() {
    double call = 1e9;
    for (int i = 0; i < 5; ++i) {
      HOCKET_TRY(ranks_[0]->barrier());
      const Clock::time_point begin = Clock::now();
      HOCKET_TRY_ASSIGN(Work work, start(*ranks_[0]));
      HOCKET_TRY(work.wait());
      call = std::min(call, seconds_since(begin));
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      constexpr std::int64_t kTried = 200;
      const Clock::time_point begin = Clock::now();
      for (std::int64_t i = 0; i < kTried; ++i) kernels_[k]->slice(i);
      slices_[k] = std::max<std::int64_t>(static_cast<std::int64_t>(call * kTried / seconds_since(begin)), 8);
    }
    return {};
  }

  Result<Sample> measure(std::size_t kernel, Communicator& ranks) {
    Sample sample;
    HOCKET_TRY(ranks.barrier());
    Clock::time_point begin = Clock::now();
    if (computes_) {
      for (std::int64_t i = 0; i < slices_[kernel]; ++i) kernels_[kernel]->slice(i);
    }
    sample.kernel = seconds_since(begin);
    HOCKET_TRY(ranks.barrier());
    const ProgressCounters before = ranks.counters();
    begin = Clock::now();
    HOCKET_TRY_ASSIGN(Work alone, start(ranks));
    HOCKET_TRY(alone.wait());
    sample.call = seconds_since(begin);
    HOCKET_TRY(ranks.barrier());
    HOCKET_TRY(together(kernel, ranks, sample));
    sample.cost = cost_since(ranks.counters(), before);
    sample.moved = move_time(sample.cost);
    return sample;
  }

  Result<void> together(std::size_t kernel, Communicator& ranks, Sample& sample) {
    const Clock::time_point begin = Clock::now();
    HOCKET_TRY_ASSIGN(Work work, start(ranks));
    bool over = false;
    for (std::int64_t i = 0; computes_ && i < slices_[kernel]; ++i) {
      kernels_[kernel]->slice(i);
      if (over) continue;
      HOCKET_TRY_ASSIGN(over, work.test());
      if (over) sample.call_beside = seconds_since(begin);
    }
    sample.kernel_beside = seconds_since(begin);
    HOCKET_TRY(work.wait());
    if (!over) sample.call_beside = seconds_since(begin);
    return {};
  }

  /// Of the two calls and three barriers of a sample: a call's share.
  static ProgressCounters cost_since(const ProgressCounters& after, const ProgressCounters& before) {
    return {.calls = 1,
            .bytes_received = (after.bytes_received - before.bytes_received) / 2,
            .bytes_copied = (after.bytes_copied - before.bytes_copied) / 2,
            .bytes_reduced = (after.bytes_reduced - before.bytes_reduced) / 2,
            .caller_time = (after.caller_time - before.caller_time) / 2,
            .thread_time = (after.thread_time - before.thread_time) / 2};
  }

  double move_time(const ProgressCounters& cost) {
    const CopyKernel copy = copy_kernel();
    const CombineKernel combine = combine_kernel(DataType::kF32, ReduceOp::kMax);
    const std::size_t half = values_.size() / 2;
    Clock::time_point begin = Clock::now();
    copy(values_.data(), values_.data() + half, half * sizeof(float), Stores::kCached);
    const double copying = seconds_since(begin);
    begin = Clock::now();
    combine(values_.data(), values_.data(), values_.data() + half, half, Stores::kCached);
    const double adding = seconds_since(begin);
    const double bytes = static_cast<double>(half) * sizeof(float);
    return copying * static_cast<double>(cost.bytes_received + cost.bytes_copied) / bytes +
           adding * static_cast<double>(cost.bytes_reduced) / bytes;
  }

  void print() const;

  std::uint32_t rank_;
  std::vector<std::uint32_t> cores_;
  bool computes_;
  std::uint32_t rounds_;
  std::vector<float> values_;
  std::array<std::unique_ptr<Kernel>, kKernels.size()> kernels_;
  std::array<std::int64_t, kKernels.size()> slices_{};
  std::vector<std::unique_ptr<Communicator>> ranks_;  // per placement
  std::array<std::array<std::vector<Sample>, kPlacements.size()>, kKernels.size()> samples_;
};

/// Quartiles of what `of` says of every sample.
template <class Of>
std::array<double, 3> quartiles(const std::vector<Sample>& samples, const Of& of) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& s : samples) values.push_back(of(s));
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t quarter) { return values[(values.size() - 1) * quarter / 4]; };
  return {at(1), at(2), at(3)};
}

std::string spread_text(const std::array<double, 3>& q) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", q[1], q[0], q[2]);
}

double whole(const Sample& s) { return std::max(s.kernel_beside, s.call_beside); }

/// The least that both can take: on one core the bytes must be moved beside the kernel, on two nothing has to wait.
double least(const Sample& s, const Placement& placement) {
  return std::max(s.call, s.kernel + (placement.beside ? s.moved : 0));
}

/// Fetched, copied and written by combining.
std::int64_t moved_bytes(const ProgressCounters& c) { return c.bytes_received + c.bytes_copied + c.bytes_reduced; }

void RankBench::print() const {
  std::ifstream load("/proc/loadavg");
  std::string minute;
  load >> minute;
  fmt::print("all-reduce of {} between 2 processes over shm; {} cores, load {}; {} rounds, medians (quartiles)\n",
             format_bytes({static_cast<std::int64_t>(values_.size() * sizeof(float))}), cores_.size(), minute, rounds_);
#ifdef HOCKET_OPENBLAS
  fmt::print("product: {0} x {0} of f32 by OpenBLAS; ", kMatrix);
#else
  fmt::print("product: {0} x {0} of f32 by plain loops; ", kMatrix);
#endif
  fmt::print("triad: three arrays of {}; {}\n", format_bytes({kTriad * 4}),
             cores_.size() >= 2 * kRanks ? "both ranks compute" : "rank 0 computes, rank 1 has the other core");
  Table table({"kernel", "progress", "kernel slowed", "call slowed", "hidden %", "net gain", "limit", "cpu of caller",
               "of thread", "moved"});
  for (std::size_t k = 0; k < kKernels.size(); ++k) {
    for (std::size_t p = 0; p < kPlacements.size(); ++p) {
      const std::vector<Sample>& all = samples_[k][p];
      const auto ms = [&](auto of) { return fmt::format("{:.2f} ms", 1e3 * quartiles(all, of)[1]); };
      const auto of_cpu = [](std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); };
      table.add(
          {std::string(kKernels[k]), std::string(kPlacements[p].name),
           spread_text(quartiles(all, [](const Sample& s) { return s.kernel_beside / s.kernel; })),
           spread_text(quartiles(all, [](const Sample& s) { return s.call_beside / s.call; })),
           fmt::format("{:.0f}",
                       100 * quartiles(all, [](const Sample& s) { return 1 - (whole(s) - s.kernel) / s.call; })[1]),
           spread_text(quartiles(all, [](const Sample& s) { return (s.kernel + s.call) / whole(s); })),
           fmt::format(
               "{:.2f}",
               quartiles(all, [&](const Sample& s) { return (s.kernel + s.call) / least(s, kPlacements[p]); })[1]),
           ms([&](const Sample& s) { return of_cpu(s.cost.caller_time); }),
           ms([&](const Sample& s) { return of_cpu(s.cost.thread_time); }),
           format_bytes({moved_bytes(all.front().cost)})});
    }
  }
  fmt::print("{}", table.text());
}

std::vector<std::uint32_t> cores() {
  cpu_set_t allowed;
  std::vector<std::uint32_t> found;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return found;
  for (std::uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) found.push_back(core);
  }
  return found;
}

/// What a launcher would say.
void name_rank(std::uint32_t rank, const std::string& job) {
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  };
  set("HOCKET_RANK", std::to_string(rank));
  set("HOCKET_LOCAL_RANK", std::to_string(rank));
  set("HOCKET_SIZE", std::to_string(kRanks));
  set("HOCKET_LOCAL_SIZE", std::to_string(kRanks));
  set("HOCKET_JOB", job);
}

int run_rank(std::uint32_t rank, const std::vector<std::uint32_t>& cores, std::int64_t bytes, const Options& options) {
  const Result<void> ran = RankBench(rank, cores, bytes, options).run();
  if (!ran) hocket::say("rank {}: {}\n", rank, ran.error().text);
  return ran ? 0 : 1;
}

int run(const Options& options) {
  const Result<Bytes> size = parse_bytes(options.size);
  if (!size || size->count < 8 || size->count % 8 != 0) {
    hocket::say("--size {}: {}\n", options.size, size ? "not a multiple of 8 B above 0" : size.error().text);
    return 2;
  }
  const std::vector<std::uint32_t> found = cores();
  if (found.size() < kRanks) {
    hocket::say("two ranks need two cores, {} here\n", found.size());
    return 2;
  }
  const std::string job = fmt::format("bench-endpoint-{}", ::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    name_rank(1, job);
    ::_exit(run_rank(1, found, size->count, options));
  }
  if (child < 0) return 1;
  name_rank(0, job);
  const int own = run_rank(0, found, size->count, options);
  int status = 0;
  ::waitpid(child, &status, 0);
  return own == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace hocket

int main(int argc, char** argv) {
  hocket::Options options;
  CLI::App app("a matrix product and a triad beside an all-reduce, by where progress runs");
  app.add_option("--size", options.size, "of the all-reduce")->capture_default_str();
  app.add_option("--rounds", options.rounds, "measured after one that warms up")
      ->check(CLI::Range(1U, 10'000U))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hocket::run(options);
}

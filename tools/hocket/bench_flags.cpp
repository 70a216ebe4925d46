#include "bench_flags.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "flags.h"
#include "planner/planner.h"

namespace hocket {
namespace {

constexpr double kBytesMax = 9e15;
/// More rows than anybody reads mean a slip.
constexpr std::size_t kRowsMax = 100'000;
constexpr std::uint64_t kCallsMax = 1'000'000'000;

/// What nccl-tests' users set to make a slow run fail.
Result<std::optional<double>> least_busbw() {
  const char* text = std::getenv("NCCL_TESTS_MIN_BW");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (text == nullptr || *text == '\0') return std::optional<double>();
  const std::string_view words(text);
  double value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc{} || end != words.data() + words.size() || !std::isfinite(value) || value < 0)
    return fail(Code::kInvalidArgument, "NCCL_TESTS_MIN_BW='{}' is not a bandwidth in GB/s", words);
  return std::optional(value);
}

/// Modes of devices and launches that do not exist here.
Result<void> check_modes(const BenchFlags& flags) {
  if (flags.graphs != 0)
    return fail(Code::kUnsupported, "-G {}: calls are not recorded into graphs here", flags.graphs);
  if (flags.registered > 1)
    return fail(Code::kUnsupported, "-R {}: 0 takes buffers as they are, 1 registers them; there are no windows here",
                flags.registered);
  if (flags.stamps != 0) return fail(Code::kUnsupported, "-S {}: rows have no column for times of day", flags.stamps);
  return {};
}

Result<void> check_volumes(const BenchFlags& flags) {
  if (flags.threads != 1 || flags.devices != 1)
    return fail(Code::kInvalidArgument,
                "-t {} -g {}: a process is one rank here; --ranks or the launcher says how many", flags.threads,
                flags.devices);
  if (flags.calls == 0) return fail(Code::kInvalidArgument, "-m 0: an iteration has at least one call");
  if (std::uint64_t{flags.calls} * flags.iterations > kCallsMax)
    return fail(Code::kInvalidArgument, "-n {} -m {}: more than {} calls", flags.iterations, flags.calls, kCallsMax);
  if (flags.json_file == "-")
    return fail(Code::kInvalidArgument,
                "-J -: would be a file of that name; --json prints to stdout, as does -J /dev/stdout");
  if (flags.cycles == 0 && (flags.json || !flags.json_file.empty()))
    return fail(Code::kInvalidArgument, "-N 0 never ends, so no JSON would be written");
  return {};
}

}  // namespace

Result<std::int64_t> parse_bench_size(std::string_view text) {
  double value = 0;
  const char* stop = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), stop, value);
  const std::string_view unit(end, static_cast<std::size_t>(stop - end));
  double scale = 0;
  if (unit.empty()) scale = 1;
  if (unit == "K" || unit == "k") scale = 1 << 10;
  if (unit == "M" || unit == "m") scale = 1 << 20;
  if (unit == "G" || unit == "g") scale = 1 << 30;
  if (error != std::errc{} || scale == 0 || !std::isfinite(value) || value < 0 || value * scale > kBytesMax)
    return fail(Code::kInvalidArgument, "'{}' is not a size: a number with nothing, K, M or G (powers of 1024)", text);
  return static_cast<std::int64_t>(value * scale);
}

std::vector<std::int64_t> BenchSizes::all() const {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = first; size <= last && sizes.size() <= kRowsMax;) {
    sizes.push_back(size);
    if (factor <= 1 && step == 0) break;
    const auto next = factor > 1 ? static_cast<std::int64_t>(static_cast<double>(size) * factor) : size + step;
    size = std::max(next, size + 1);
  }
  return sizes;
}

void BenchFlags::declare(CLI::App& app) {
  app.add_option("collective", collective, "all_reduce reduce_scatter all_gather broadcast reduce all_to_all")
      ->required();
  declare_letters(app);
  declare_volumes(app);
  declare_modes(app);
  app.add_option("--algo", algorithm,
                 "an algorithm, some with commas between, auto or all [auto, the fastest by simulation]");
  app.add_option("--segment", segment, "bytes that move at once [the best by simulation]");
  app.add_flag("--json", json, "a JSON document on stdout instead of the table");
}

void BenchFlags::declare_letters(CLI::App& app) {
  app.add_option("-b,--minbytes", first, "least size")->capture_default_str();
  app.add_option("-e,--maxbytes", last, "largest size")->capture_default_str();
  app.add_option("-f,--stepfactor", factor, "factor between sizes");
  app.add_option("-i,--stepbytes", step, "bytes between sizes, without a factor")->capture_default_str();
  app.add_option("-n,--iters", iterations, "iterations of a measurement")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", warmup, "iterations before it")->capture_default_str();
  app.add_option("-c,--check", check, "1: check the data, 0: do not")->check(CLI::Range(0, 1))->capture_default_str();
  app.add_option("-d,--datatype", type, "dtype, or all")->capture_default_str();
  app.add_option("-o,--op", op, "operator, or all")->capture_default_str();
  app.add_option("-r,--root", root, "root of broadcast and reduce; -1: every rank in turn")->capture_default_str();
  app.add_option("-a,--average", average, "time shown: 0 of rank 0, 1 mean, 2 least, 3 most")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app.add_option("-J,--output_file", json_file,
                 "write the results there too, as nccl-tests' JSON; a file that is there stays, and FILE.1 is written");
}

void BenchFlags::declare_volumes(CLI::App& app) {
  app.add_option("-m,--agg_iters", calls, "calls that count as one iteration")->capture_default_str();
  app.add_option("-N,--run_cycles", cycles, "how often all rows are run; 0: until it is ended")->capture_default_str();
  app.add_option("-t,--nthreads", threads, "threads that are ranks: 1")->capture_default_str();
  app.add_option("-g,--ngpus", devices, "devices of a thread: 1")->capture_default_str();
}

void BenchFlags::declare_modes(CLI::App& app) {
  app.add_option("-C,--report_cputime", processor_time, "1: processor time of a call instead of elapsed time")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  app.add_option("-p,--parallel_init", side_by_side, "0 or 1: ranks always start side by side")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  app.add_option("-z,--blocking", waits, "0 or 1: every call is waited for before the next")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  app.add_option("-G,--cudagraph", graphs, "0: there are no graphs of launches")->capture_default_str();
  app.add_option("-R,--local_register", registered, "1: buffers in memory that ranks of one host map and read in place")
      ->capture_default_str();
  app.add_option("-S,--report_timestamps", stamps, "0: rows carry no times of day")->capture_default_str();
}

std::vector<SharedFlag> shared_flags(const BenchFlags& flags, const BenchRun& run) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  std::vector<std::string_view> types;
  types.reserve(run.types.size());
  for (const DataType type : run.types) types.push_back(name_of(type));
  std::vector<SharedFlag> shared{
      {"hocket", "bench", {}},
      {"hocket bench", std::string(name_of(run.kind)), {}},
      {"-b", flags.first, number(run.sizes.first)},
      {"-e", flags.last, number(run.sizes.last)},
      {"-f", number(flags.factor), {}},
      {"-i", flags.step, number(run.sizes.step)},
      {"-n", number(flags.iterations), {}},
      {"-w", number(flags.warmup), {}},
      {"-m", number(flags.calls), {}},
      {"-N", number(flags.cycles), {}},
      {"-c", number(flags.check), {}},
      {"-d", flags.type, fmt::format("{}", fmt::join(types, " "))},
      {"-a", number(flags.average), {}},
      {"-C", number(static_cast<int>(flags.processor_time)), {}},
      {"-R", number(flags.registered), {}},
      {"--algo", flags.algorithm, {}},
      {"--segment", flags.segment, fmt::format("{}B", run.segment.count)},
  };
  if (reduces(run.kind)) shared.push_back({"-o", flags.op, {}});
  if (is_rooted(run.kind)) shared.push_back({"-r", number(flags.root), {}});
  return shared;
}

Result<BenchRun> check_flags(const BenchFlags& flags) {
  BenchRun run;
  HOCKET_TRY_ASSIGN(run.kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(run.sizes.first, parse_bench_size(flags.first));
  HOCKET_TRY_ASSIGN(run.sizes.last, parse_bench_size(flags.last));
  HOCKET_TRY_ASSIGN(run.sizes.step, parse_bench_size(flags.step));
  if (flags.factor != 0 && !(flags.factor > 1 && flags.factor < 1e9))
    return fail(Code::kInvalidArgument, "-f {}: a factor above 1 and below 1e9", flags.factor);
  run.sizes.factor = flags.factor;
  if (run.sizes.first > run.sizes.last)
    return fail(Code::kInvalidArgument, "-b {} is above -e {}", flags.first, flags.last);
  if (run.sizes.all().size() > kRowsMax)
    return fail(Code::kInvalidArgument, "-b {} -e {} is more than {} rows", flags.first, flags.last, kRowsMax);
  if (flags.type == "all") {
    for (int i = 0; i < kDataTypes; ++i) run.types.push_back(static_cast<DataType>(i));
  } else {
    HOCKET_TRY_ASSIGN(const DataType type, parse_data_type(flags.type));
    run.types.push_back(type);
  }
  HOCKET_TRY_ASSIGN(run.segment, parse_segment(flags.segment, run.types));
  if (flags.op == "all" && reduces(run.kind)) {
    for (int i = 0; i < kReduceOps; ++i) run.ops.push_back(static_cast<ReduceOp>(i));
  } else {
    HOCKET_TRY_ASSIGN(const ReduceOp op, parse_reduce_op(flags.op == "all" ? "sum" : flags.op));
    run.ops.push_back(op);
  }
  run.average = static_cast<Average>(flags.average);
  HOCKET_TRY(algorithms_named(flags.algorithm));
  HOCKET_TRY(check_volumes(flags));
  HOCKET_TRY(check_modes(flags));
  HOCKET_TRY_ASSIGN(run.busbw_least_GBps, least_busbw());
  return run;
}

}  // namespace hocket

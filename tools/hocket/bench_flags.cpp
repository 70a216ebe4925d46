#include "bench_flags.h"

#include <array>
#include <charconv>
#include <cmath>

namespace hocket {
namespace {

constexpr double kBytesMax = 9e15;
/// More rows than anybody reads mean a slip.
constexpr std::size_t kRowsMax = 100'000;

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
  app.add_option("--algo", algorithm, "algorithm of every row [the fastest by simulation]");
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
  app.add_option("-J,--output_file", json_file, "write the results there too, as nccl-tests' JSON");
}

Result<BenchRun> check_flags(const BenchFlags& flags) {
  BenchRun run;
  HOCKET_TRY_ASSIGN(run.kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(run.sizes.first, parse_bench_size(flags.first));
  HOCKET_TRY_ASSIGN(run.sizes.last, parse_bench_size(flags.last));
  HOCKET_TRY_ASSIGN(run.sizes.step, parse_bench_size(flags.step));
  if (flags.factor != 0 && !(flags.factor > 1 && flags.factor < 1e9))
    return fail(Code::kInvalidArgument, "-f {}: a factor above 1", flags.factor);
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
  if (flags.op == "all" && reduces(run.kind)) {
    for (int i = 0; i < kReduceOps; ++i) run.ops.push_back(static_cast<ReduceOp>(i));
  } else {
    HOCKET_TRY_ASSIGN(const ReduceOp op, parse_reduce_op(flags.op == "all" ? "sum" : flags.op));
    run.ops.push_back(op);
  }
  run.average = static_cast<Average>(flags.average);
  return run;
}

}  // namespace hocket

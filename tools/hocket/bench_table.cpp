#include "bench_table.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/say.h"
#include "base/version.h"
#include "flags.h"
#include "local_ranks.h"

namespace hocket {
namespace {

std::string_view shown_op(const BoundCollective& what) {
  return reduces(what.collective.kind) ? name_of(what.op) : "none";
}
int shown_root(const BoundCollective& what) {
  return is_rooted(what.collective.kind) ? static_cast<int>(what.collective.root) : -1;
}

/// nccl-tests' names of the types.
std::string_view shown_type(DataType type) {
  constexpr std::array<std::string_view, kDataTypes> names{"int8",   "uint8", "int32",    "uint32", "int64",
                                                           "uint64", "half",  "bfloat16", "float",  "double"};
  return names[static_cast<std::size_t>(type)];
}

std::string shown_time(double seconds) {
  const double us = seconds * 1e6;
  return us < 10'000 ? fmt::format("{:.2f}", us) : us < 1e6 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string half_text(const BenchRow& row, const BenchHalf& half, bool checked) {
  return fmt::format("{:>9}{:>8.2f}{:>8.2f}{:>8}", shown_time(half.time_s), row.algbw_GBps(half), row.busbw_GBps(half),
                     checked ? fmt::format("{}", half.wrong) : "N/A");
}

std::string bound_text(const BenchRow& row) {
  const auto share = [&row](const BenchHalf& half) {
    const std::optional<double> fraction = row.fraction_of_bound(half);
    return fraction ? fmt::format("{:.1f}", 100 * *fraction) : "N/A";
  };
  return fmt::format("{:>10}{:>7}{:>7}", row.bound_s ? shown_time(*row.bound_s) : "N/A", share(row.out_of_place),
                     share(row.in_place));
}

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

nlohmann::ordered_json half_json(const BenchRow& row, const BenchHalf& half, bool checked) {
  nlohmann::ordered_json out{{"time", half.time_s * 1e6},
                             {"alg_bw", row.algbw_GBps(half)},
                             {"bus_bw", row.busbw_GBps(half)},
                             {"nwrong", checked ? nlohmann::ordered_json(half.wrong) : nlohmann::ordered_json("N/A")},
                             {"fraction_of_bound", or_null(row.fraction_of_bound(half))}};
  return out;
}

/// The name itself, or with the first number behind it that is free, as nccl-tests do with what they find there. What
/// is no regular file (a device, a pipe, a link) is written to, not beside.
std::string free_name(const std::string& name) {
  std::error_code error;
  std::string candidate = name;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(name, error))) return name;
  for (int i = 1; std::filesystem::exists(candidate, error); ++i) candidate = fmt::format("{}.{}", name, i);
  return candidate;
}

}  // namespace

BenchTable::BenchTable(const BenchFlags& flags, const BenchRun& run, const RankJob& job, BenchBound bound)
    : flags_(flags), run_(run), job_(job), bound_(std::move(bound)), start_(now_text()) {}

double BenchRow::algbw_GBps(const BenchHalf& half) const {
  return half.time_s > 0 ? static_cast<double>(what.bytes().count) / half.time_s / 1e9 : 0;
}

double BenchRow::busbw_GBps(const BenchHalf& half) const { return algbw_GBps(half) * bus_factor(what.collective); }

std::optional<double> BenchRow::fraction_of_bound(const BenchHalf& half) const {
  return bound_s && half.time_s > 0 ? std::optional(*bound_s / half.time_s) : std::nullopt;
}

std::int64_t BenchRow::count_shown() const {
  return is_blocked(what.collective.kind) ? what.count / what.collective.ranks : what.count;
}

void BenchTable::print_header() const {
  const BenchSizes& s = run_.sizes;
  fmt::print("# hocket {} bench {}\n# {}\n", build_stamp().version, name_of(run_.kind), job_.job().way);
  const std::string step =
      flags_.factor > 1 ? fmt::format("{} (factor)", flags_.factor) : fmt::format("{} (bytes)", s.step);
  fmt::print(
      "# ranks {} minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: {} validation: {} "
      "transport: {}\n",
      job_.size(), s.first, s.last, step, flags_.warmup, flags_.iterations, flags_.calls, flags_.check,
      job_.transport_name());
  fmt::print("# bound: {}\n#\n", bound_.text);
  fmt::print("# Using ranks\n");
  for (const Member& member : job_.job().members)
    fmt::print("#  Rank {:>3} Pid {:>7} on {}\n", member.rank, member.process, member.host);
  fmt::print("#\n#{:>73}{:>33}{:>24}\n", "out-of-place", "in-place", "of bound");
  fmt::print("#{:>11}{:>14}{:>10}{:>8}{:>8}", "size", "count", "type", "redop", "root");
  for (int half = 0; half < 2; ++half) fmt::print("{:>9}{:>8}{:>8}{:>8}", "time", "algbw", "busbw", "#wrong");
  fmt::print("{:>10}{:>7}{:>7}  algo\n#{:>11}{:>14}{:>26}", "bound", "out", "in", "(B)", "(elements)", "");
  for (int half = 0; half < 2; ++half) fmt::print("{:>9}{:>8}{:>8}{:>8}", "(us)", "(GB/s)", "(GB/s)", "");
  fmt::print("{:>10}{:>7}{:>7}\n", "(us)", "(%)", "(%)");
  std::fflush(stdout);
}

void BenchTable::add(const BenchRow& row) {
  for (const BenchHalf* half : {&row.out_of_place, &row.in_place}) {
    wrong_ += half->wrong;
    busbw_sum_GBps_ += row.busbw_GBps(*half);
    ++halves_;
  }
  if (flags_.cycles > 0) rows_.push_back(row);
  if (flags_.json) return;
  const bool checked = flags_.check != 0;
  fmt::print("{:>12}{:>14}{:>10}{:>8}{:>8}{}{}{}  {}\n", row.what.bytes().count, row.count_shown(),
             shown_type(row.what.type), shown_op(row.what), shown_root(row.what),
             half_text(row, row.out_of_place, checked), half_text(row, row.in_place, checked), bound_text(row),
             row.algorithm);
  std::fflush(stdout);
}

double BenchTable::mean_busbw() const { return halves_ == 0 ? 0 : busbw_sum_GBps_ / static_cast<double>(halves_); }

bool BenchTable::fast_enough() const {
  constexpr double kTolerated = 0.9;
  return !run_.busbw_least_GBps || mean_busbw() >= kTolerated * *run_.busbw_least_GBps;
}

void BenchTable::print_footer() const {
  const std::string_view judged = !run_.busbw_least_GBps ? "" : fast_enough() ? "OK" : "FAILED";
  fmt::print("# Out of bounds values : {}\n",
             flags_.check == 0 ? "not checked" : fmt::format("{} {}", wrong_, wrong_ == 0 ? "OK" : "FAILED"));
  fmt::print("# Avg bus bandwidth    : {:.4g} {}\n#\n# bench {} concluded\n", mean_busbw(), judged, name_of(run_.kind));
}

nlohmann::ordered_json BenchTable::bound_json() const {
  const bool none = bound_.topology.empty();
  return {{"topology", none ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(bound_.topology)},
          {"meaning", bound_.text}};
}

nlohmann::ordered_json BenchTable::document() const {
  nlohmann::ordered_json out = hocket::document("bench");
  out["collective"] = std::string(name_of(run_.kind));
  out["ranks"] = job_.size();
  out["transport"] = std::string(job_.transport_name());
  out["launch"] = job_.job().launch.source;
  out["bound"] = bound_json();
  out["rows"] = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows_) {
    const auto half = [&](const BenchHalf& h) {
      nlohmann::ordered_json one{
          {"time_s", h.time_s}, {"algbw_Bps", row.algbw_GBps(h) * 1e9}, {"busbw_Bps", row.busbw_GBps(h) * 1e9}};
      one["fraction_of_bound"] = or_null(row.fraction_of_bound(h));
      one["wrong"] = flags_.check != 0 ? nlohmann::ordered_json(h.wrong) : nlohmann::ordered_json(nullptr);
      return one;
    };
    out["rows"].push_back({{"size_bytes", row.what.bytes().count},
                           {"count", row.count_shown()},
                           {"dtype", std::string(name_of(row.what.type))},
                           {"op", std::string(shown_op(row.what))},
                           {"root", shown_root(row.what)},
                           {"algorithm", row.algorithm},
                           {"segment_bytes", row.segment_bytes},
                           {"bound_s", or_null(row.bound_s)},
                           {"out_of_place", half(row.out_of_place)},
                           {"in_place", half(row.in_place)}});
  }
  out["correct"] = flags_.check != 0 ? nlohmann::ordered_json(wrong_ == 0) : nlohmann::ordered_json(nullptr);
  return out;
}

nlohmann::ordered_json BenchTable::nccl_json() const {
  nlohmann::ordered_json config{
      {"nthreads", 1}, {"ngpus", 0}, {"minimum_bytes", run_.sizes.first}, {"maximum_bytes", run_.sizes.last}};
  if (flags_.factor > 1) config["step_factor"] = flags_.factor;
  if (flags_.factor <= 1) config["step_bytes"] = run_.sizes.step;
  config["warmup_iters"] = flags_.warmup;
  config["iterations"] = flags_.iterations;
  config["aggregated_iterations"] = flags_.calls;
  config["validation"] = flags_.check;
  config["graph"] = 0;
  config["bound"] = bound_json();
  config["devices"] = nlohmann::ordered_json::array();
  for (const Member& m : job_.job().members)
    config["devices"].push_back({{"rank", m.rank}, {"pid", m.process}, {"hostname", m.host}});
  nlohmann::ordered_json out{{"version", 3},
                             {"hocket", std::string(build_stamp().version)},
                             {"start_time", start_},
                             {"args", own_arguments()},
                             {"env", nlohmann::ordered_json::object()},
                             {"nccl_version", nullptr},
                             {"config", std::move(config)},
                             {"results", nlohmann::ordered_json::array()}};
  const bool checked = flags_.check != 0;
  for (const BenchRow& row : rows_) {
    out["results"].push_back({{"size", row.what.bytes().count},
                              {"count", row.count_shown()},
                              {"type", std::string(shown_type(row.what.type))},
                              {"redop", std::string(shown_op(row.what))},
                              {"root", shown_root(row.what)},
                              {"algorithm", row.algorithm},
                              {"bound", or_null(row.bound_s ? std::optional(*row.bound_s * 1e6) : std::nullopt)},
                              {"out_of_place", half_json(row, row.out_of_place, checked)},
                              {"in_place", half_json(row, row.in_place, checked)}});
  }
  const nlohmann::ordered_json unknown;
  out["out_of_bounds"] = {{"count", checked ? nlohmann::ordered_json(wrong_) : unknown},
                          {"okay", checked ? nlohmann::ordered_json(wrong_ == 0) : unknown}};
  out["average_bus_bandwidth"] = {{"bandwidth", mean_busbw()}, {"okay", fast_enough()}};
  out["errors"] = nlohmann::ordered_json::array();
  out["end_time"] = now_text();
  return out;
}

Result<void> BenchTable::write_nccl_json() const {
  if (flags_.json_file.empty()) return {};
  const std::string name = free_name(flags_.json_file);
  HOCKET_TRY(write_file(name, nccl_json().dump(2) + "\n"));
  if (name != flags_.json_file) say("note: {} was there already: wrote {}\n", flags_.json_file, name);
  return {};
}

}  // namespace hocket

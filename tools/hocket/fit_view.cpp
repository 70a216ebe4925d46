#include "fit_view.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/say.h"
#include "exchange/load_platform.h"
#include "exchange/nccl_log.h"
#include "exchange/platform_yaml.h"
#include "flags.h"
#include "losses.h"
#include "platform/network_fit.h"
#include "report/table.h"

namespace hocket {
namespace {

struct Log {
  std::string name;
  NcclLog read;
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// "fitted from a.log, b.log, 104 rows".
std::string source_of(const std::vector<Log>& logs) {
  std::vector<std::string> names;
  names.reserve(logs.size());
  std::size_t rows = 0;
  for (const Log& log : logs) {
    names.push_back(std::filesystem::path(log.name).filename().string());
    rows += log.read.rows;
  }
  return fmt::format("fitted from {}, {} rows", fmt::join(names, ", "), rows);
}

nlohmann::ordered_json held_out_json(const HeldOut& held_out) {
  return {{"times", held_out.samples}, {"median_error", held_out.median}, {"largest_error", held_out.most}};
}

void print_document(const std::vector<Log>& logs, const NetworkFit& fit) {
  nlohmann::ordered_json out = document("info");
  for (const Log& log : logs) {
    out["logs"].push_back({{"file", log.name},
                           {"collective", std::string(name_of(log.read.kind))},
                           {"ranks", log.read.ranks},
                           {"rows", log.read.rows},
                           {"times", log.read.times.size()},
                           {"losses", losses_json(log.read.losses)}});
  }
  for (const CollectiveFit& one : fit.collectives) {
    out["collectives"].push_back({{"collective", std::string(name_of(one.kind))},
                                  {"ranks", one.ranks},
                                  {"times", one.samples},
                                  {"alpha_s", one.alpha.value},
                                  {"busbw_Bps", one.busbw.value},
                                  {"held_out", held_out_json(one.held_out)}});
  }
  out["network"] = {{"topology", fmt::format("switch:{}", fit.ranks)},
                    {"bandwidth_Bps", fit.bandwidth.value},
                    {"latency_s", fit.latency.value},
                    {"times", fit.samples},
                    {"held_out", held_out_json(fit.held_out)}};
  print_json(out);
}

void print_text(const std::vector<Log>& logs, const NetworkFit& fit) {
  for (const Log& log : logs) {
    fmt::print("{}: {} on {} ranks, {} rows, {} times\n", log.name, name_of(log.read.kind), log.read.ranks,
               log.read.rows, log.read.times.size());
    print_losses("note", log.read.losses);
  }
  Table table({"collective", "ranks", "times", "alpha", "busbw", "held out", "median error", "largest"});
  for (const CollectiveFit& one : fit.collectives) {
    table.add({std::string(name_of(one.kind)), fmt::format("{}", one.ranks), fmt::format("{}", one.samples),
               format_seconds(one.alpha), format_bandwidth(one.busbw), fmt::format("{}", one.held_out.samples),
               percent(one.held_out.median), percent(one.held_out.most)});
  }
  fmt::print("{}", table.text());
  fmt::print("as rings on switch:{}: links of {} and {}; of {} held out: median error {}, largest {}\n", fit.ranks,
             format_bandwidth(fit.bandwidth), format_seconds(fit.latency), fit.held_out.samples,
             percent(fit.held_out.median), percent(fit.held_out.most));
}

Result<void> write_platform_file(const std::vector<Log>& logs, const NetworkFit& fit, const FitFlags& flags) {
  HOCKET_TRY_ASSIGN(const ImportedPlatform imported, load_platform({flags.onto, "", ""}));
  const Platform& base = imported.platform;
  HOCKET_TRY_ASSIGN(const Topology topology, base.build_topology());
  if (topology.rank_count() != fit.ranks) {
    return fail(Code::kMismatch, "platform {} has {} ranks, the logs have {}", flags.onto, topology.rank_count(),
                fit.ranks);
  }
  const Platform platform = with_network(base, fit, source_of(logs));
  HOCKET_TRY(validate(platform));
  HOCKET_TRY_ASSIGN(const std::string text, write_platform(platform));
  HOCKET_TRY(write_file(flags.file, text));
  say("wrote {}\n", flags.file);
  return {};
}

}  // namespace

Result<int> fit_logs(const std::vector<std::string>& logs, const FitFlags& flags, bool json) {
  if (logs.empty()) return fail(Code::kInvalidArgument, "after 'fit': which logs of nccl-tests?");
  if (flags.file.empty() != flags.onto.empty()) {
    return fail(
        Code::kInvalidArgument, "{}",
        flags.onto.empty() ? "-o needs --onto PLATFORM: logs say nothing of its endpoints" : "--onto needs -o FILE");
  }
  std::vector<Log> read;
  std::vector<NetworkSample> samples;
  for (const std::string& name : logs) {
    for (const Log& other : read) {
      std::error_code error;
      if (std::filesystem::equivalent(name, other.name, error))
        return fail(Code::kInvalidArgument, "{}: is the same log as {}: its times would count twice", name, other.name);
    }
    HOCKET_TRY_ASSIGN(NcclLog log, load_nccl_log(name));
    samples.reserve(samples.size() + log.times.size());
    for (const MeasuredTime& t : log.times) samples.push_back({log.kind, log.ranks, t.size, t.time});
    read.push_back({name, std::move(log)});
  }
  HOCKET_TRY_ASSIGN(const NetworkFit fit, fit_network(samples));
  if (!flags.file.empty()) HOCKET_TRY(write_platform_file(read, fit, flags));
  if (json) {
    print_document(read, fit);
  } else {
    print_text(read, fit);
  }
  return 0;
}

}  // namespace hocket

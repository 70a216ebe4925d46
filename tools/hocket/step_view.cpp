#include "step_view.h"

#include <fmt/format.h>

#include <array>

#include "base/file.h"
#include "exchange/platform_yaml.h"
#include "flags.h"
#include "planner/step_choice.h"
#include "progress_line.h"
#include "report/table.h"
#include "simulator/step.h"
#include "simulator/step_timeline.h"
#include "workload/model.h"

namespace hocket {
namespace {

struct Row {
  CommunicationEngine engine;
  StepResult result;
};

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string time_text(Picos t) { return format_seconds(to_seconds(t)); }

Result<std::vector<CommunicationEngine>> engines_of(const Platform& platform, const StepFlags& flags) {
  std::vector<CommunicationEngine> engines;
  for (const std::string& name : flags.endpoints) {
    if (name == "all") {
      engines.insert(engines.end(), platform.engines.begin(), platform.engines.end());
      continue;
    }
    HOCKET_TRY_ASSIGN(const CommunicationEngine* engine, platform.engine(name));
    engines.push_back(*engine);
  }
  if (engines.empty()) engines.push_back(platform.engines.front());
  if (flags.split.empty()) return engines;
  if (flags.split != "shared" && flags.split != "static")
    return fail(Code::kInvalidArgument, "--split {}: neither shared nor static", flags.split);
  for (CommunicationEngine& engine : engines) {
    const bool can = flags.split == "static" && engine.memory_bandwidth && engine.overlaps;
    engine.split = can ? BudgetSplit::kStatic : BudgetSplit::kShared;
  }
  return engines;
}

/// What the platform's energies say of a rank, or nothing where one is missing.
nlohmann::ordered_json energy_of(const Platform& platform, const Workload& workload, const Row& row,
                                 std::uint32_t steps) {
  const PowerModel& p = platform.power;
  if (!p.idle || !p.per_flop || !p.per_memory_byte) return nullptr;
  double flops = 0;
  for (const WorkNode& node : workload.nodes) flops += node.compute.flops;
  const StepResult& r = row.result;
  const double memory = r.compute_memory_bytes + r.memory_bytes_read + r.memory_bytes_written;
  const double links = p.per_link_byte ? p.per_link_byte->value * r.network_bytes / r.ranks : 0;
  return r.ranks * (p.idle->value * to_seconds(r.time).value + p.per_flop->value * flops * steps +
                    p.per_memory_byte->value * memory + links);
}

void print_document(const Platform& platform, const Workload& workload, const std::vector<Row>& rows,
                    const StepFlags& flags) {
  nlohmann::ordered_json out = document("sim");
  out["workload"] = workload.name;
  out["workload_source"] = workload.source;
  out["platform"] = platform.name;
  out["steps"] = flags.steps;
  for (const Row& row : rows) {
    const StepResult& r = row.result;
    nlohmann::ordered_json exposed = nlohmann::ordered_json::object();
    for (const auto& [cause, time] : r.exposed_for) exposed[cause] = to_seconds(time).value;
    out["rows"].push_back({{"endpoint", row.engine.name},
                           {"kind", std::string(name_of(row.engine.kind))},
                           {"split", std::string(name_of(row.engine.split))},
                           {"charge", std::string(name_of(row.engine.charge))},
                           {"step_time_s", to_seconds(r.time).value / flags.steps},
                           {"time_s", to_seconds(r.time).value},
                           {"compute_s", to_seconds(r.compute_busy).value},
                           {"compute_alone_s", to_seconds(r.compute_alone).value},
                           {"communication_s", to_seconds(r.communication).value},
                           {"exposed_s", to_seconds(r.exposed).value},
                           {"exposed_by_cause_s", exposed},
                           {"hidden_fraction", r.hidden_fraction()},
                           {"compute_slowdown", r.compute_slowdown()},
                           {"memory_bytes_read", r.memory_bytes_read},
                           {"memory_bytes_written", r.memory_bytes_written},
                           {"compute_memory_bytes", r.compute_memory_bytes},
                           {"sent_bytes", r.sent_bytes},
                           {"network_bytes", r.network_bytes},
                           {"padded_bytes", r.padded_bytes},
                           {"energy_J", energy_of(platform, workload, row, flags.steps)},
                           {"ranks", r.ranks},
                           {"ranks_simulated", r.simulated},
                           {"events", r.events},
                           {"wall_s", r.wall_s}});
  }
  print_json(out);
}

void print_text(const Platform& platform, const Workload& workload, const std::vector<Row>& rows,
                const StepFlags& flags) {
  fmt::print("{} on {}, {} ranks, {} step{}; collectives of {} a step\n", workload.name, platform.name,
             rows.front().result.ranks, flags.steps, flags.steps == 1 ? "" : "s",
             format_bytes({static_cast<std::int64_t>(workload.collective_bytes())}));
  Table table({"endpoint", "step", "compute", "slowdown", "exposed", "hidden %", "sent GB", "read GB"});
  for (const Row& row : rows) {
    const StepResult& r = row.result;
    table.add({row.engine.name, format_seconds({to_seconds(r.time).value / flags.steps}), time_text(r.compute_busy),
               fmt::format("{:.3f}", r.compute_slowdown()), time_text(r.exposed), percent(r.hidden_fraction()),
               fmt::format("{:.4g}", r.sent_bytes / 1e9), fmt::format("{:.4g}", r.memory_bytes_read / 1e9)});
  }
  fmt::print("{}", table.text());
  for (const Row& row : rows) {
    for (const auto& [cause, time] : row.result.exposed_for)
      fmt::print("exposed with {}: {} for {}\n", row.engine.name, time_text(time), cause);
  }
  fmt::print("sent and read by collectives, per rank in all steps; {}\n",
             rows.front().result.simulated == 1 ? "one rank stands for all: proved alike" : "all ranks simulated");
}

}  // namespace

void StepFlags::declare(CLI::App& app) {
  app.add_option("--platform", platform, "simulate a training step on this platform: ace:4x4x4, or a file");
  app.add_option("--endpoint", endpoints, "platform: which engine, or all; repeat for more [the platform's first]")
      ->allow_extra_args(false);
  app.add_option("--algo", algorithms, "platform: algorithms for its collectives, the first that can")
      ->allow_extra_args(false);
  app.add_option("--steps", steps, "platform: steps one after another")->capture_default_str();
  app.add_option("--batch", batch, "platform: samples per rank [the model's]");
  app.add_option("--sequence", sequence, "platform: tokens of a sample [the model's]");
  app.add_option("--precision", precision, "platform: type that compute uses [f16 where it has a rate]");
  app.add_option("--split", split, "platform: memory budget shared or static [the engine's]");
  app.add_flag("--unfolded", unfolded, "platform: simulate every rank also where one could stand for all");
}

Result<int> simulate_workload(const std::string& name, const StepFlags& flags, const std::string& timeline, bool json) {
  HOCKET_TRY_ASSIGN(const Platform platform, load_platform(flags.platform));
  HOCKET_TRY_ASSIGN(const Topology topology, platform.build_topology());
  HOCKET_TRY_ASSIGN(const std::vector<CommunicationEngine> engines, engines_of(platform, flags));
  HOCKET_TRY_ASSIGN(const DataType precision,
                    flags.precision.empty() ? platform.usual_type() : parse_data_type(flags.precision));
  HOCKET_TRY_ASSIGN(
      const Workload workload,
      workload_from_model(name, {.batch = flags.batch, .sequence = flags.sequence, .compute = precision}));
  HOCKET_TRY_ASSIGN(const ScheduleChooser choose, choose_schedules(topology, workload, flags.algorithms));
  if (!timeline.empty()) HOCKET_TRY(check_writable(timeline));
  std::vector<Row> rows;
  rows.reserve(engines.size());
  for (const CommunicationEngine& engine : engines) {
    const StepOptions options{.steps = flags.steps, .fold = !flags.unfolded, .timeline = !timeline.empty()};
    HOCKET_TRY_ASSIGN(StepResult result, simulate_step(workload, {platform, topology, engine}, choose, options));
    rows.push_back({engine, std::move(result)});
  }
  if (!timeline.empty()) {
    std::vector<StepTrack> tracks;
    tracks.reserve(rows.size());
    for (const Row& row : rows) tracks.push_back({row.engine.name, row.result.timeline});
    HOCKET_TRY(write_file(timeline, step_timeline(tracks)));
  }
  if (json) {
    print_document(platform, workload, rows, flags);
  } else {
    print_text(platform, workload, rows, flags);
  }
  return 0;
}

}  // namespace hocket

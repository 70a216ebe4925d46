#include "step_view.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "base/say.h"
#include "flags.h"
#include "memory_view.h"
#include "planner/step_choice.h"
#include "progress_line.h"
#include "report/table.h"
#include "simulator/step.h"
#include "simulator/step_energy.h"
#include "simulator/step_metrics.h"
#include "simulator/step_timeline.h"
#include "step_csv.h"
#include "topology/spec.h"
#include "workload/model.h"

namespace hocket {
namespace {

struct Row {
  CommunicationEngine engine;
  StepResult result;
};

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string time_text(Picos t) { return format_seconds(to_seconds(t)); }

const WorkMemory* memory_of(const Workload& workload) { return workload.memory ? &*workload.memory : nullptr; }

void print_document(const Platform& platform, const Workload& workload, const std::vector<Row>& rows,
                    const StepFlags& flags) {
  nlohmann::ordered_json out = document("sim");
  out["workload"] = workload.name;
  out["workload_source"] = workload.source;
  out["platform"] = platform.name;
  out["steps"] = flags.steps;
  out["collective_bytes"] = workload.collective_bytes();
  out["memory"] = memory_json(memory_of(workload), smallest_memory(platform, rows.front().result.ranks));
  for (const Row& row : rows) {
    const StepResult& r = row.result;
    nlohmann::ordered_json exposed = nlohmann::ordered_json::object();
    for (const auto& [cause, time] : r.exposed_for) exposed[cause] = to_seconds(time).value;
    nlohmann::ordered_json one{{"endpoint", row.engine.name},
                               {"kind", std::string(name_of(row.engine.kind))},
                               {"split", std::string(name_of(row.engine.split))},
                               {"charge", std::string(name_of(row.engine.charge))}};
    for (const StepMetric& metric : step_metrics()) {
      const double value = metric.of(r, flags.steps);
      one[std::string(metric.name)] =
          metric.counts ? nlohmann::ordered_json(static_cast<std::uint64_t>(value)) : nlohmann::ordered_json(value);
    }
    one["exposed_by_cause_s"] = exposed;
    one["algorithms"] = r.algorithms;
    const std::optional<double> energy = step_energy(r, platform.power);
    one["energy_J"] = energy ? nlohmann::ordered_json(*energy) : nlohmann::ordered_json(nullptr);
    const std::optional<double> power = step_power(r, platform.power);
    one["power_W"] = power ? nlohmann::ordered_json(*power) : nlohmann::ordered_json(nullptr);
    one["frequency"] = r.frequency;
    one["wall_s"] = r.wall_s;
    out["rows"].push_back(std::move(one));
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
  std::vector<EndpointAlgorithms> chosen;
  for (const Row& row : rows) chosen.push_back({row.engine.name, &row.result.algorithms});
  fmt::print("{}", algorithm_lines(chosen));
  for (const Row& row : rows) {
    for (const auto& [cause, time] : row.result.exposed_for)
      fmt::print("exposed with {}: {} for {}\n", row.engine.name, time_text(time), cause);
  }
  for (const Row& row : rows) fmt::print("{}", cap_line(row.engine.name, row.result, platform, flags));
  fmt::print("{}\n",
             memory_line(memory_of(workload), platform.name, smallest_memory(platform, rows.front().result.ranks)));
  fmt::print("{}sent and read by collectives, per rank in all steps; {}\n",
             flags.steps == 1 ? "" : "compute and exposed are of all steps; ",
             rows.front().result.simulated == 1 ? "one rank stands for all: proved alike" : "all ranks simulated");
}

Result<void> write_files(const Platform& platform, const std::vector<Row>& rows, const StepFlags& flags,
                         const StepFiles& files) {
  if (!files.csv.empty()) {
    std::vector<StepCsvRow> lines;
    lines.reserve(rows.size());
    for (const Row& row : rows) lines.push_back({row.engine.name, &row.result});
    HOCKET_TRY_ASSIGN(const std::string text, step_csv(lines, flags.steps, platform.power));
    HOCKET_TRY(write_file(files.csv, text));
  }
  if (files.timeline.empty()) return {};
  std::vector<StepTrack> tracks;
  tracks.reserve(rows.size());
  for (const Row& row : rows) tracks.push_back({row.engine.name, row.result.timeline});
  return write_file(files.timeline, step_timeline(tracks, files.timeline));
}

}  // namespace

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

Result<Topology> StepFlags::network(Platform& on) const {
  if (topology == nullptr) return on.build_topology();
  TopologyFlags own = *topology;
  own.group.clear();
  if (!own.topology.empty()) {
    HOCKET_TRY_ASSIGN(Topology other, own.load());
    on.name = fmt::format("{} over {}", on.name, other.name());
    return other;
  }
  if (!own.links.empty() || !own.uplink.empty())
    return fail(Code::kInvalidArgument, "{} without --topo: platform {} has rates of its own",
                own.links.empty() ? "--uplink" : "--link", on.name);
  HOCKET_TRY_ASSIGN(Topology topology_of, on.build_topology());
  return apply_changes(std::move(topology_of), {.breaks = own.breaks, .scales = own.scales});
}

Result<ModelRequest> request_of(const Platform& platform, const StepFlags& flags) {
  ModelRequest request{.batch = flags.batch, .sequence = flags.sequence};
  HOCKET_TRY_ASSIGN(request.compute,
                    flags.precision.empty() ? platform.usual_type() : parse_data_type(flags.precision));
  if (!flags.bucket.empty()) {
    HOCKET_TRY_ASSIGN(request.bucket, parse_bytes(flags.bucket));
    if (request.bucket.count <= 0)
      return fail(Code::kInvalidArgument,
                  "--bucket {}: a bucket holds at least a byte; without the flag layers are alone", flags.bucket);
  }
  if (!flags.optimizer.empty()) {
    HOCKET_TRY_ASSIGN(request.optimizer, parse_optimizer(flags.optimizer));
  }
  return request;
}

void declare_platform_parts(CLI::App& app, PlatformFiles& files) {
  app.add_option("--system", files.system, "platform: the system JSON of an ASTRA-sim network given as the platform");
  app.add_option("--remote-memory", files.remote_memory, "platform: its remote memory JSON");
}

Result<Platform> StepFlags::load() const {
  HOCKET_TRY_ASSIGN(ImportedPlatform imported, load_platform(platform));
  if (imported.losses.total() > 0) {
    say("hocket sim: {}: {} keys taken, {} ignored, {} assumptions: 'hocket info platform' lists them\n",
        platform.platform, imported.taken.size(), imported.losses.count(LossKind::kIgnored),
        imported.losses.count(LossKind::kAssumed));
  }
  return std::move(imported.platform);
}

Result<double> power_cap_of(const StepFlags& flags) {
  if (flags.power_cap.empty()) return 0;
  Result<double> watts = parse_figure(FigureUnit::kPower, flags.power_cap);
  if (watts) return watts;
  return fail(Code::kInvalidArgument, "--power-cap: {}", watts.error().text);
}

std::string algorithm_lines(const std::vector<EndpointAlgorithms>& rows) {
  const bool alike = std::all_of(rows.begin(), rows.end(), [&](const EndpointAlgorithms& row) {
    return *row.algorithms == *rows.front().algorithms;
  });
  std::string text;
  for (const EndpointAlgorithms& row : rows) {
    for (const auto& [collective, algorithm] : *row.algorithms)
      text += fmt::format("{}{} by {}\n", collective, alike ? "" : " with " + row.endpoint, algorithm);
    if (alike) break;
  }
  return text;
}

std::string cap_line(const std::string& endpoint, const StepResult& result, const Platform& platform,
                     const StepFlags& flags) {
  if (flags.power_cap.empty()) return {};
  return fmt::format("capped at {} with {}: clock {:.3f}, {:.1f} W a npu\n", flags.power_cap, endpoint,
                     result.frequency, step_power(result, platform.power).value_or(0));
}

void StepFlags::declare(CLI::App& app) {
  app.add_option("--platform", platform.platform,
                 "simulate a training step on this platform: ace:4x4x4, a file, or an ASTRA-sim network");
  declare_platform_parts(app, platform);
  app.add_option("--endpoint", endpoints, "platform: which engine, or all; repeat for more [the platform's first]")
      ->allow_extra_args(false);
  app.add_option("--algo", algorithms, "platform: algorithms for its collectives, the first that can")
      ->allow_extra_args(false);
  app.add_option("--steps", steps, "platform: steps one after another")->capture_default_str();
  app.add_option("--batch", batch, "platform: samples per rank [the model's]")->check(CLI::Range(1U, 1U << 31));
  app.add_option("--sequence", sequence, "platform: tokens of a sample [the model's]")->check(CLI::Range(1U, 1U << 31));
  app.add_option("--precision", precision, "platform: type that compute uses [f16 where it has a rate]");
  app.add_option("--split", split, "platform: memory budget shared or static [the engine's]");
  app.add_option("--bucket", bucket,
                 "platform: gradients are reduced together until they have so many bytes [per layer]");
  app.add_option("--optimizer", optimizer, "platform: adam, sgd or none, for the memory it takes [the model's]");
  app.add_option("--power-cap", power_cap,
                 "platform: power of an npu on average (300W); the clock falls until it holds");
  app.add_flag("--unfolded", unfolded, "platform: simulate every rank also where one could stand for all");
  parallel.declare(app);
}

Result<int> simulate_workload(const std::string& name, const StepFlags& flags, const StepFiles& files, bool json) {
  HOCKET_TRY_ASSIGN(Platform platform, flags.load());
  HOCKET_TRY_ASSIGN(const Topology topology, flags.network(platform));
  HOCKET_TRY_ASSIGN(const std::vector<CommunicationEngine> engines, engines_of(platform, flags));
  HOCKET_TRY_ASSIGN(const ModelRequest request, request_of(platform, flags));
  HOCKET_TRY_ASSIGN(const Workload workload, workload_from_model(name, request));
  HOCKET_TRY_ASSIGN(const double power_cap, power_cap_of(flags));
  std::vector<Row> rows;
  rows.reserve(engines.size());
  for (const CommunicationEngine& engine : engines) {
    const StepOptions options{
        .steps = flags.steps, .fold = !flags.unfolded, .power_cap_W = power_cap, .timeline = !files.timeline.empty()};
    const StepMachine machine{platform, topology, engine};
    HOCKET_TRY_ASSIGN(const ScheduleChooser choose, choose_schedules(machine, workload, flags.algorithms));
    HOCKET_TRY_ASSIGN(StepResult result, simulate_step(workload, machine, choose, options));
    rows.push_back({engine, std::move(result)});
  }
  HOCKET_TRY(write_files(platform, rows, flags, files));
  if (json) {
    print_document(platform, workload, rows, flags);
  } else {
    print_text(platform, workload, rows, flags);
  }
  return fits(memory_of(workload), smallest_memory(platform, topology.rank_count())).value_or(true) ? 0 : 1;
}

}  // namespace hocket

#include "graph_view.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/say.h"
#include "exchange/chakra_graph.h"
#include "exchange/load_graph.h"
#include "exchange/workload_yaml.h"
#include "flags.h"
#include "losses.h"
#include "memory_view.h"
#include "planner/group_choice.h"
#include "report/table.h"
#include "simulator/graph_step.h"
#include "simulator/step_energy.h"
#include "simulator/step_timeline.h"
#include "step_csv.h"
#include "workload/buckets.h"
#include "workload/parallel.h"

namespace hocket {
namespace {

struct Row {
  CommunicationEngine engine;
  GraphResult result;
};

const WorkMemory* memory_of(const ImportedGraph& imported) {
  return imported.graph.memory ? &*imported.graph.memory : nullptr;
}

std::string time_text(Picos t) { return format_seconds(to_seconds(t)); }

Result<void> refuse_model_flags(const GraphFlags& work, const StepFlags& flags) {
  if (!work.is_file()) return {};
  const std::string_view given = flags.batch > 0            ? "--batch"
                                 : flags.sequence > 0       ? "--sequence"
                                 : !flags.precision.empty() ? "--precision"
                                 : !flags.optimizer.empty() ? "--optimizer"
                                                            : flags.parallel.given();
  if (given.empty()) return {};
  return fail(Code::kInvalidArgument, "{}: only built-in workloads have it; a file states its work", given);
}

/// The narrowest floating type that the platform has a rate for.
DataType rated_type(const Platform& platform) {
  for (const DataType type : {DataType::kF16, DataType::kBf16, DataType::kF32, DataType::kF64}) {
    if (platform.endpoint.rates[static_cast<std::size_t>(type)]) return type;
  }
  return DataType::kF16;
}

/// A built-in model as a task graph, spread over the ranks as the flags say.
Result<ImportedGraph> spread_model(const std::string& name, const StepFlags& step, const Platform& platform,
                                   std::uint32_t ranks) {
  HOCKET_TRY_ASSIGN(ModelRequest request, request_of(platform, step));
  if (step.parallel.given().empty()) {
    HOCKET_TRY_ASSIGN(const Workload workload, workload_from_model(name, request));
    return ImportedGraph{graph_of(workload, ranks), {}, {}};
  }
  HOCKET_TRY(step.parallel.check());
  HOCKET_TRY_ASSIGN(const LayeredModel model, layered_model(name, request));
  HOCKET_TRY_ASSIGN(const ParallelPlan plan, plan_parallel(model, request, step.parallel.asked(), ranks));
  return ImportedGraph{parallel_graph(model, request, plan), {"spread: " + plan.text()}, {}};
}

/// The work with its gradients gathered as --bucket says.
Result<ImportedGraph> bucketed(ImportedGraph imported, const std::string& bucket) {
  if (bucket.empty()) return imported;
  HOCKET_TRY_ASSIGN(const Bytes bytes, parse_bytes(bucket));
  const auto calls = [&] {
    std::size_t count = 0;
    for (const Task& task : imported.graph.program(0).tasks) count += task.collective ? 1 : 0;
    return count;
  };
  const std::size_t before = calls();
  imported.graph = with_buckets(std::move(imported.graph), bytes);
  imported.counts.push_back(
      fmt::format("buckets of {}: {} collectives of rank 0 are {}", format_bytes(bytes), before, calls()));
  HOCKET_TRY(validate(imported.graph));
  return imported;
}

/// FILE.yaml holds all; traces are one file per rank and one for the groups.
Result<void> write_work(const std::string& name, const TaskGraph& graph) {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    HOCKET_TRY_ASSIGN(const std::string text, write_workload_yaml(graph));
    HOCKET_TRY(write_file(name, text));
    say("wrote {}\n", name);
    return {};
  }
  HOCKET_TRY_ASSIGN(const ChakraExport traces, export_chakra(graph));
  for (std::size_t rank = 0; rank < traces.traces.size(); ++rank)
    HOCKET_TRY(write_file(fmt::format("{}.{}.et", name, rank), write_chakra(traces.traces[rank])));
  HOCKET_TRY(write_file(name + ".groups.json", traces.groups));
  say("wrote {}.0.et to {}.{}.et and {}.groups.json\n", name, name, traces.traces.size() - 1, name);
  for (const std::string& line : traces.losses.lines()) say("lost: {}\n", line);
  return {};
}

/// "tp: 4 groups of 2 ranks".
std::string division_text(const RankDivision& division) {
  std::size_t least = SIZE_MAX, most = 0;
  for (const auto& group : division.groups) {
    least = std::min(least, group.size());
    most = std::max(most, group.size());
  }
  const std::string size = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  return fmt::format("{}: {} group{} of {} rank{}", division.name, division.groups.size(),
                     division.groups.size() == 1 ? "" : "s", size, most == 1 ? "" : "s");
}

nlohmann::ordered_json row_json(const Row& row, const Platform& platform, std::uint32_t steps) {
  const StepResult& r = row.result.step;
  const std::optional<double> energy = step_energy(r, platform.power);
  const std::optional<double> power = step_power(r, platform.power);
  nlohmann::ordered_json exposed = nlohmann::ordered_json::object();
  for (const auto& entry : r.exposed_for) exposed[entry.first] = to_seconds(entry.second).value;
  return {{"endpoint", row.engine.name},
          {"kind", std::string(name_of(row.engine.kind))},
          {"algorithms", row.result.step.algorithms},
          {"step_time_s", to_seconds(r.time).value / steps},
          {"time_s", to_seconds(r.time).value},
          {"compute_s", to_seconds(r.compute_busy).value},
          {"compute_alone_s", to_seconds(r.compute_alone).value},
          {"host_s", to_seconds(row.result.host).value},
          {"communication_s", to_seconds(r.communication).value},
          {"exposed_s", to_seconds(r.exposed).value},
          {"exposed_by_cause_s", exposed},
          {"hidden_fraction", r.hidden_fraction()},
          {"compute_slowdown", r.compute_slowdown()},
          {"memory_bytes_read", r.memory_bytes_read},
          {"memory_bytes_written", r.memory_bytes_written},
          {"sent_bytes", r.sent_bytes},
          {"network_bytes", r.network_bytes},
          {"messages", row.result.messages},
          {"energy_J", energy ? nlohmann::ordered_json(*energy) : nlohmann::ordered_json(nullptr)},
          {"power_W", power ? nlohmann::ordered_json(*power) : nlohmann::ordered_json(nullptr)},
          {"frequency", r.frequency},
          {"ranks", r.ranks},
          {"ranks_simulated", r.simulated},
          {"events", r.events},
          {"wall_s", r.wall_s}};
}

void print_document(const ImportedGraph& imported, const Platform& platform, const std::vector<Row>& rows,
                    std::uint32_t steps) {
  nlohmann::ordered_json out = document("sim");
  out["workload"] = imported.graph.name;
  out["workload_source"] = imported.graph.source;
  out["platform"] = platform.name;
  out["steps"] = steps;
  out["counts"] = imported.counts;
  out["losses"] = losses_json(imported.losses);
  out["memory"] = memory_json(memory_of(imported), smallest_memory(platform, imported.graph.ranks()));
  for (const RankDivision& division : imported.graph.divisions)
    out["groups"].push_back({{"name", division.name}, {"groups", division.groups.size()}});
  for (const Row& row : rows) out["rows"].push_back(row_json(row, platform, steps));
  print_json(out);
}

void print_text(const ImportedGraph& imported, const Platform& platform, const std::vector<Row>& rows,
                const StepFlags& flags) {
  const std::uint32_t steps = flags.steps;
  fmt::print("{}: {}\n", imported.graph.name, imported.graph.source);
  for (const std::string& line : imported.counts) fmt::print("{}\n", line);
  print_losses("note", imported.losses);
  for (const RankDivision& division : imported.graph.divisions) fmt::print("{}\n", division_text(division));
  std::vector<EndpointAlgorithms> chosen;
  for (const Row& row : rows) chosen.push_back({row.engine.name, &row.result.step.algorithms});
  fmt::print("{}", algorithm_lines(chosen));
  fmt::print("on {}, {} ranks, {} step{}; collectives of {} a step on rank 0\n", platform.name,
             rows.front().result.step.ranks, steps, steps == 1 ? "" : "s",
             format_bytes({static_cast<std::int64_t>(imported.graph.collective_bytes())}));
  Table table({"endpoint", "step", "compute", "slowdown", "exposed", "hidden %", "sent GB", "read GB"});
  for (const Row& row : rows) {
    const StepResult& r = row.result.step;
    table.add({row.engine.name, format_seconds({to_seconds(r.time).value / steps}), time_text(r.compute_busy),
               fmt::format("{:.3f}", r.compute_slowdown()), time_text(r.exposed),
               fmt::format("{:.1f}", 100 * r.hidden_fraction()), fmt::format("{:.4g}", r.sent_bytes / 1e9),
               fmt::format("{:.4g}", r.memory_bytes_read / 1e9)});
  }
  fmt::print("{}", table.text());
  for (const Row& row : rows) {
    for (const auto& entry : row.result.step.exposed_for)
      fmt::print("exposed with {}: {} for {}\n", row.engine.name, time_text(entry.second), entry.first);
  }
  for (const Row& row : rows) fmt::print("{}", cap_line(row.engine.name, row.result.step, platform, flags));
  if (imported.graph.memory)
    fmt::print("{}\n",
               memory_line(memory_of(imported), platform.name, smallest_memory(platform, imported.graph.ranks())));
  fmt::print("figures are those of the rank that ends last{}; {}\n",
             flags.steps == 1 ? "" : ", compute and exposed of all steps",
             rows.front().result.step.simulated == 1 ? "one rank stands for all: proved alike" : "all ranks simulated");
}

Result<void> write_files(const std::vector<Row>& rows, const Platform& platform, std::uint32_t steps,
                         const StepFiles& files) {
  std::vector<StepTrack> tracks;
  std::vector<StepCsvRow> lines;
  tracks.reserve(rows.size());
  lines.reserve(rows.size());
  for (const Row& row : rows) {
    tracks.push_back({row.engine.name, row.result.step.timeline});
    lines.push_back({row.engine.name, &row.result.step});
  }
  if (!files.csv.empty()) {
    HOCKET_TRY_ASSIGN(const std::string text, step_csv(lines, steps, platform.power));
    HOCKET_TRY(write_file(files.csv, text));
  }
  if (files.timeline.empty()) return {};
  return write_file(files.timeline, step_timeline(tracks, files.timeline));
}

}  // namespace

void GraphFlags::declare(CLI::App& app) {
  CLI::Option* const traces = app.add_option(
      "--chakra", chakra, "platform: Chakra traces PREFIX.<rank>.et: one per rank, the prefix or the folder");
  traces->expected(1, -1);
  app.add_option("--write-workload", copy,
                 "platform: write the workload, as FILE.yaml or as Chakra traces PREFIX.<rank>.et");
  app.add_option("--groups", groups, "platform: JSON of the groups that traces name [PREFIX.groups.json if there]")
      ->needs(traces);
}

bool GraphFlags::is_file() const {
  std::error_code error;
  return !chakra.empty() || (file.find('\0') == std::string::npos && std::filesystem::exists(file, error));
}

bool GraphFlags::wanted() const { return !copy.empty() || is_file(); }

Result<ImportedGraph> load_work(const GraphFlags& flags, const StepFlags& step, const Platform& platform,
                                const RankLayout& layout) {
  HOCKET_TRY(refuse_model_flags(flags, step));
  if (flags.is_file()) {
    HOCKET_TRY_ASSIGN(ImportedGraph loaded, load_graph({flags.chakra.empty() ? std::vector{flags.file} : flags.chakra,
                                                        !flags.chakra.empty(), flags.groups, rated_type(platform)},
                                                       layout));
    return bucketed(std::move(loaded), step.bucket);
  }
  return spread_model(flags.file, step, platform, layout.ranks);
}

Result<int> simulate_file(const GraphFlags& flags, const StepFlags& step, const std::string& csv) {
  HOCKET_TRY_ASSIGN(Platform platform, step.load());
  HOCKET_TRY_ASSIGN(const Topology topology, step.network(platform));
  HOCKET_TRY_ASSIGN(const std::vector<CommunicationEngine> engines, engines_of(platform, step));
  const RankLayout layout{topology.rank_count(), {topology.extents().begin(), topology.extents().end()}};
  HOCKET_TRY_ASSIGN(const ImportedGraph imported, load_work(flags, step, platform, layout));
  if (!flags.copy.empty()) HOCKET_TRY(write_work(flags.copy, imported.graph));
  HOCKET_TRY_ASSIGN(const double power_cap, power_cap_of(step));
  std::vector<Row> rows;
  rows.reserve(engines.size());
  for (const CommunicationEngine& engine : engines) {
    const StepOptions options{
        .steps = step.steps, .fold = !step.unfolded, .power_cap_W = power_cap, .timeline = !flags.timeline.empty()};
    HOCKET_TRY_ASSIGN(const GroupChooser choose, choose_for_groups(step.algorithms, platform, engine));
    HOCKET_TRY_ASSIGN(GraphResult result,
                      simulate_graph(imported.graph, {platform, topology, engine}, choose, options));
    rows.push_back({engine, std::move(result)});
  }
  HOCKET_TRY(write_files(rows, platform, step.steps, {flags.timeline, csv}));
  if (flags.json) {
    print_document(imported, platform, rows, step.steps);
  } else {
    print_text(imported, platform, rows, step);
  }
  return fits(memory_of(imported), smallest_memory(platform, imported.graph.ranks())).value_or(true) ? 0 : 1;
}

}  // namespace hocket

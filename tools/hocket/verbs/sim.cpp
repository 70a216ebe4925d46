// hocket sim: reads a schedule file, proves it and simulates it on a topology: time, bound, load of every link. With
// --platform: a training step of a workload on a platform's endpoints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>

#include "astra_view.h"
#include "bounds/statement.h"
#include "exchange/csv.h"
#include "exchange/perfetto.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "graph_view.h"
#include "lane_view.h"
#include "outputs.h"
#include "planner/planner.h"
#include "progress_line.h"
#include "report/table.h"
#include "simulator/step_metrics.h"
#include "simulator/timeline.h"
#include "step_view.h"
#include "together.h"
#include "verb.h"
#include "workloads_view.h"

namespace hocket {
namespace {

struct Flags {
  GraphFlags graph;
  TopologyFlags topology;
  CollectiveFlags amount;
  SimulationFlags simulation;
  StepFlags step;
  std::string csv;
  bool lanes = false;
  std::string astra_system;
  std::vector<std::string> with, with_sizes, with_groups;
};

Result<void> print_document(const Topology& t, const Plan& plan, const SimulationResult& r, bool with_lanes) {
  nlohmann::ordered_json out = document("sim");
  const double network_bytes =
      static_cast<double>(std::accumulate(r.link_bytes.begin(), r.link_bytes.end(), std::int64_t{0}));
  out["model"] = std::string(name_of(r.model));
  out["rows"].push_back({{"endpoint", "ideal"},
                         {"algorithm", plan.schedule().algorithm()},
                         {"step_time_s", to_seconds(r.time).value},
                         {"compute_s", 0.0},
                         {"exposed_s", to_seconds(r.time).value},
                         {"hidden_fraction", 0.0},
                         {"compute_slowdown", 1.0},
                         {"network_bytes", network_bytes},
                         {"algbw_Bps", algbw_Bps(plan.what(), r.time)},
                         {"busbw_Bps", busbw_Bps(plan.what(), r.time)},
                         {"bound_s", r.bound.time.value},
                         {"bound_rule", r.bound.rule},
                         {"bound_limit", r.bound.limit},
                         {"fraction_of_bound", r.fraction_of_bound()},
                         {"network_only", r.network_only},
                         {"links_used", r.links_used},
                         {"messages", r.messages},
                         {"events", r.events},
                         {"wall_s", r.wall_s},
                         {"segment_bytes", plan.segment().count}});
  for (LinkId link = 0; link < r.link_bytes.size(); ++link) {
    out["links"].push_back({{"link", link},
                            {"name", t.describe_link(link)},
                            {"bytes", r.link_bytes[link]},
                            {"utilisation", r.utilisation(link)}});
  }
  if (with_lanes) {
    HOCKET_TRY_ASSIGN(out["lanes"], lanes_document(plan.schedule(), t));
  }
  print_json(out);
  return {};
}

/// "figure,link,value": figures of the whole run have no link.
Result<std::string> csv_text(const Topology& t, const Plan& plan, const SimulationResult& r) {
  std::string text = "figure,link,value\n";
  const auto add = [&text](std::string_view figure, std::string link, double value) -> Result<void> {
    HOCKET_TRY_ASSIGN(const std::string line, csv_line({std::string(figure), std::move(link), exact_number(value)}));
    text += line;
    return {};
  };
  HOCKET_TRY(add("size_bytes", "", static_cast<double>(plan.what().bytes().count)));
  HOCKET_TRY(add("segment_bytes", "", static_cast<double>(plan.segment().count)));
  HOCKET_TRY(add("time_s", "", to_seconds(r.time).value));
  HOCKET_TRY(add("algbw_Bps", "", algbw_Bps(plan.what(), r.time)));
  HOCKET_TRY(add("busbw_Bps", "", busbw_Bps(plan.what(), r.time)));
  HOCKET_TRY(add("bound_s", "", r.bound.time.value));
  HOCKET_TRY(add("fraction_of_bound", "", r.fraction_of_bound()));
  HOCKET_TRY(add("links_used", "", static_cast<double>(r.links_used)));
  HOCKET_TRY(add("messages", "", static_cast<double>(r.messages)));
  HOCKET_TRY(add("events", "", static_cast<double>(r.events)));
  for (LinkId link = 0; link < r.link_bytes.size(); ++link) {
    HOCKET_TRY(add("link_bytes", t.describe_link(link), static_cast<double>(r.link_bytes[link])));
    HOCKET_TRY(add("link_utilisation", t.describe_link(link), r.utilisation(link)));
  }
  return text;
}

void print_text(const Topology& t, const Plan& plan, const SimulationResult& r) {
  fmt::print("{} of {} by '{}' on {}, {} model, segments of {}\n", name_of(plan.what().collective.kind),
             format_bytes(plan.what().bytes()), plan.schedule().algorithm(), t.name(), name_of(r.model),
             format_bytes(plan.segment()));
  fmt::print("time {}  algbw {}  busbw {}  {:.1f} % of the bound {} ({})\n", format_seconds(to_seconds(r.time)),
             format_bandwidth({algbw_Bps(plan.what(), r.time)}), format_bandwidth({busbw_Bps(plan.what(), r.time)}),
             100 * r.fraction_of_bound(), format_seconds(r.bound.time), certificate_text(r.bound.rule, r.bound.limit));
  std::vector<LinkId> order(r.link_bytes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](LinkId a, LinkId b) { return r.link_busy[a].count > r.link_busy[b].count; });
  fmt::print("{} of {} links used; busiest:\n", r.links_used, order.size());
  Table table({"link", "bytes", "busy %"});
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 8); ++i) {
    table.add({t.describe_link(order[i]), fmt::format("{}", r.link_bytes[order[i]]),
               fmt::format("{:.1f}", 100 * r.utilisation(order[i]))});
  }
  fmt::print("{}", table.text());
}

Result<void> write_timeline(const std::string& file, const SimulationResult& result, const Plan& plan,
                            const Topology& topology) {
  return write_file(file, is_perfetto_name(file) ? perfetto_timeline(result, plan, topology)
                                                 : chrome_timeline(result, plan, topology));
}

/// None of what is read is written over.
Result<void> check_files(const Flags& flags) {
  const PlatformFiles& platform = flags.step.platform;
  std::vector<std::string> inputs{flags.graph.file,       flags.graph.groups,      platform.platform, platform.system,
                                  platform.remote_memory, flags.topology.topology, flags.astra_system};
  inputs.insert(inputs.end(), flags.with.begin(), flags.with.end());
  for (const std::string& words : flags.graph.chakra) {
    inputs.push_back(words);
    inputs.push_back(words + ".0.et");
  }
  std::vector<Output> outputs{{"--csv", flags.csv}, {"--timeline", flags.graph.timeline}};
  const std::string& copy = flags.graph.copy;
  const bool one_file = copy.empty() || copy.ends_with(".yaml") || copy.ends_with(".yml");
  for (const char* const end : {".0.et", ".groups.json"})
    outputs.push_back({"--write-workload", one_file ? copy : copy + end});
  return check_outputs(outputs, inputs);
}

Result<int> run(const Flags& flags) {
  HOCKET_TRY(check_files(flags));
  if (!flags.astra_system.empty()) {
    return simulate_by_astra_rules({flags.graph.file, flags.topology.topology, flags.astra_system, flags.graph.json},
                                   flags.amount);
  }
  if (flags.step.given() && (!flags.with.empty() || !flags.topology.group.empty())) {
    return simulate_workloads(
        {flags.graph, flags.step, flags.topology.group, flags.with, flags.with_groups, flags.csv, flags.graph.json});
  }
  if (flags.step.given() && (flags.graph.wanted() || !flags.step.parallel.given().empty())) {
    return simulate_file(flags.graph, flags.step, flags.csv);
  }
  if (flags.graph.file.empty())
    return fail(Code::kInvalidArgument, "file is required: a schedule, or a workload (with --platform)");
  if (flags.step.given()) {
    return simulate_workload(flags.graph.file, flags.step, {flags.graph.timeline, flags.csv}, flags.graph.json);
  }
  if (flags.topology.topology.empty())
    return fail(Code::kInvalidArgument, "--topo is missing (for a schedule file), or --platform (for a workload)");
  if (!flags.with.empty() || !flags.with_sizes.empty() || !flags.with_groups.empty()) {
    if (!flags.graph.timeline.empty() || !flags.csv.empty()) {
      return fail(Code::kInvalidArgument, "{} shows one schedule: not with --with",
                  flags.csv.empty() ? "--timeline" : "--csv");
    }
    return simulate_jobs({flags.graph.file, flags.with, flags.with_sizes, flags.with_groups, flags.topology,
                          flags.amount, flags.simulation, flags.graph.json});
  }
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(flags.graph.file));
  const Collective collective = schedule.collective();
  HOCKET_TRY_ASSIGN(const Topology topology, flags.topology.load());
  HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
  HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(collective, flags.graph.file));
  HOCKET_TRY_ASSIGN(SimulateOptions options, flags.simulation.options());
  PlanningOptions search;
  std::optional<ProgressLine> line;
  line.emplace();
  options.progress = &line->progress();
  search.simulate = options;
  HOCKET_TRY_ASSIGN(search.segment, flags.simulation.segment_bytes());
  HOCKET_TRY_ASSIGN(Candidate best, simulate_best(verified, topology, what, search));
  const Plan plan = std::move(best.plan);
  SimulationResult result = std::move(best.simulated);
  options.timeline = !flags.graph.timeline.empty();
  if (options.timeline) {
    HOCKET_TRY_ASSIGN(result, simulate(plan, topology, options));
  }
  line.reset();
  if (options.timeline) HOCKET_TRY(write_timeline(flags.graph.timeline, result, plan, topology));
  if (!flags.csv.empty()) {
    HOCKET_TRY_ASSIGN(const std::string text, csv_text(topology, plan, result));
    HOCKET_TRY(write_file(flags.csv, text));
  }
  flags.amount.note_cut(what);
  if (flags.graph.json) {
    HOCKET_TRY(print_document(topology, plan, result, flags.lanes));
  } else {
    print_text(topology, plan, result);
  }
  return 0;
}

/// What belongs to a schedule file has no meaning for a step on a platform, and the other way round.
void part_flags(CLI::App& app) {
  constexpr std::array kShared{"--help",       "--json", "--csv",  "--timeline", "--platform", "--group", "--with",
                               "--with-group", "--topo", "--link", "--uplink",   "--break",    "--scale"};
  constexpr std::array kOfSteps{
      "--endpoint",     "--algo",     "--steps",  "--batch",  "--sequence",       "--precision", "--split", "--bucket",
      "--optimizer",    "--unfolded", "--chakra", "--groups", "--write-workload", "--tp",        "--pp",    "--ep",
      "--microbatches", "--fsdp",     "--sp",     "--system", "--remote-memory",  "--power-cap"};
  CLI::Option* const platform = app.get_option("--platform");
  for (CLI::Option* const option : app.get_options()) {
    const auto is = [option](const char* name) { return option->check_name(name); };
    if (option->get_positional() || std::any_of(kShared.begin(), kShared.end(), is)) continue;
    if (std::any_of(kOfSteps.begin(), kOfSteps.end(), is)) {
      option->needs(platform);
    } else {
      option->excludes(platform);
    }
  }
}

/// Their rules leave no room for ours.
void declare_astra(CLI::App& app, Flags& flags) {
  CLI::Option* const compat =
      app.add_option("--astra-compat", flags.astra_system,
                     "simulate a collective by ASTRA-sim's rules: its system JSON, with its network YAML as --topo");
  constexpr std::array kShared{"--help", "--json", "--topo", "--size", "--dtype", "--op", "--astra-compat"};
  for (CLI::Option* const option : app.get_options()) {
    const auto is = [option](const char* name) { return option->check_name(name); };
    if (!option->get_positional() && std::none_of(kShared.begin(), kShared.end(), is)) compat->excludes(option);
  }
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("file", flags->graph.file,
                 "a schedule file (with --topo), a workload (with --platform), or a collective (with --astra-compat)");
  flags->topology.declare(app, false, false);
  flags->amount.declare(app);
  flags->simulation.declare(app);
  flags->step.declare(app);
  flags->graph.declare(app);
  app.add_option("--timeline", flags->graph.timeline,
                 "write a timeline: Chrome JSON, or a Perfetto trace as FILE.pftrace or FILE.perfetto-trace");
  app.add_option("--csv", flags->csv, "write every figure as CSV: a row per endpoint, or per figure and link");
  app.add_flag("--lanes", flags->lanes, "with --json: also the links that each connection between two ranks takes");
  CLI::Option* const with = app.add_option(
      "--with", flags->with, "another schedule (or workload) that starts at the same time; repeat for more");
  with->allow_extra_args(false);
  app.add_option("--with-size", flags->with_sizes, "--size of the k-th --with [--size]")
      ->allow_extra_args(false)
      ->needs(with);
  app.add_option("--with-group", flags->with_groups, "--group of the k-th --with [--group]")
      ->allow_extra_args(false)
      ->needs(with);
  app.add_flag("--json", flags->graph.json, "a JSON document on stdout");
  flags->step.topology = &flags->topology;
  declare_astra(app, *flags);
  part_flags(app);
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_sim{
    .name = "sim",
    .summary = "simulate a schedule file on a topology, or a training step on a platform",
    .example = "hocket sim plan.hkt --topo torus:4x4 --size 64MiB",
    .declare = declare,
};

}  // namespace hocket

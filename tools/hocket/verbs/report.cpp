// hocket report: plans a collective on one or more networks, lays schedules from files beside the plans, and writes one
// self-contained HTML page about it all.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "exchange/schedule_format.h"
#include "flags.h"
#include "planner/planner.h"
#include "progress_line.h"
#include "report/page.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  std::vector<std::string> topologies;
  TopologyFlags changes;  // of every network; its topology is set per network
  CollectiveFlags amount;
  SimulationFlags simulation;
  std::string output;
  bool json = false;
};

struct ScheduleFile {
  std::string path;
  VerifiedSchedule verified;
};

/// What the words on the command line are.
struct Inputs {
  std::optional<CollectiveKind> kind;
  std::vector<std::string> topologies;
  std::vector<ScheduleFile> schedules;
};

/// One network with everything its entry borrows.
struct Job {
  Topology topology;
  BoundCollective what;
  SimulateOptions simulate;
  Planning planning;
  std::deque<Plan> file_plans;
  std::deque<SimulationResult> file_results;
  std::vector<PagePlan> from_files;
};

bool is_schedule_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(4096, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return recognise_schedule(start) != nullptr;
}

Result<Inputs> sort_inputs(const Flags& flags) {
  Inputs inputs;
  for (const std::string& word : flags.inputs) {
    if (is_schedule_file(word)) {
      HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(word));
      HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
      inputs.schedules.push_back({word, std::move(verified)});
    } else if (const auto kind = parse_collective(word); kind && &word == &flags.inputs.front()) {
      inputs.kind = *kind;
    } else {
      inputs.topologies.push_back(word);
    }
  }
  inputs.topologies.insert(inputs.topologies.end(), flags.topologies.begin(), flags.topologies.end());
  if (inputs.topologies.empty() && !inputs.schedules.empty()) {
    return fail(Code::kInvalidArgument, "{}: a schedule needs the network it runs on; add --topo",
                inputs.schedules.front().path);
  }
  if (inputs.topologies.empty())
    return fail(Code::kInvalidArgument, "no network given: name words (torus:4x4) or a file");
  return inputs;
}

/// The collective of the command line and of every schedule file, which must agree.
Result<Collective> agree_on_collective(const Inputs& inputs) {
  Collective agreed{inputs.kind.value_or(CollectiveKind::kAllReduce), 0, 0};
  bool open = !inputs.kind;
  for (const ScheduleFile& file : inputs.schedules) {
    const Collective& c = file.verified.schedule().collective();
    if (open) agreed = {c.kind, 0, c.root};
    open = false;
    if (c.kind != agreed.kind) {
      return fail(Code::kMismatch, "{}: the schedule does {}, the page is about {}", file.path, name_of(c.kind),
                  name_of(agreed.kind));
    }
  }
  return agreed;
}

Result<void> add_schedule(const ScheduleFile& file, Job& job) {
  const Schedule& schedule = file.verified.schedule();
  if (schedule.collective() != job.what.collective) {
    return fail(Code::kMismatch, "{}: root {}, the page has root {}", file.path, schedule.collective().root,
                job.what.collective.root);
  }
  // As for the planner's own plans the segment size is the best of several: those that its candidates ended with.
  std::set<Bytes> segments;
  for (const Candidate& c : job.planning.candidates) segments.insert(c.plan.segment());
  std::optional<std::pair<Plan, SimulationResult>> best;
  for (const Bytes segment : segments) {
    HOCKET_TRY_ASSIGN(Plan plan, Plan::bind(file.verified, job.what, segment));
    HOCKET_TRY_ASSIGN(SimulationResult result, simulate(plan, job.topology, job.simulate));
    if (!best || result.time < best->second.time) best.emplace(std::move(plan), std::move(result));
  }
  job.file_plans.push_back(std::move(best->first));
  job.file_results.push_back(std::move(best->second));
  job.from_files.push_back({schedule.algorithm(), std::filesystem::path(file.path).filename().string(),
                            &job.file_plans.back(), &job.file_results.back()});
  return {};
}

Result<void> plan_network(const Flags& flags, const std::string& word, CollectiveKind kind, Progress& progress,
                          Job& job) {
  TopologyFlags network = flags.changes;
  network.topology = word;
  HOCKET_TRY_ASSIGN(job.topology, network.load());
  HOCKET_TRY_ASSIGN(job.what, flags.amount.bind(kind, job.topology.rank_count()));
  PlanningOptions options;
  HOCKET_TRY_ASSIGN(options.simulate, flags.simulation.options());
  HOCKET_TRY_ASSIGN(options.segment, flags.simulation.segment_bytes());
  options.simulate.progress = &progress;
  job.simulate = options.simulate;
  HOCKET_TRY_ASSIGN(job.planning, plan_collective(job.topology, job.what, options));
  return {};
}

/// Lays every schedule beside the plans of each network with as many ranks; one that fits none is an error.
Result<void> add_schedules(const Inputs& inputs, std::deque<Job>& jobs) {
  for (const ScheduleFile& file : inputs.schedules) {
    const std::uint32_t ranks = file.verified.schedule().rank_count();
    bool used = false;
    for (Job& job : jobs) {
      if (job.topology.rank_count() != ranks) continue;
      HOCKET_TRY(add_schedule(file, job));
      used = true;
    }
    if (!used) {
      return fail(Code::kMismatch, "{}: the schedule has {} ranks, no network given has as many ('{}' has {})",
                  file.path, ranks, jobs.front().topology.name(), jobs.front().topology.rank_count());
    }
  }
  return {};
}

PageEntry entry_of(const Job& job) {
  PageEntry entry{job.topology,         job.what,    job.planning.bound, page_plans(job.planning),
                  job.planning.skipped, job.simulate};
  entry.simulate.bound = nullptr;
  entry.plans.insert(entry.plans.end(), job.from_files.begin(), job.from_files.end());
  return entry;
}

nlohmann::ordered_json entry_json(const PageEntry& e) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PagePlan& p : e.plans) {
    rows.push_back({{"algorithm", p.name},
                    {"file", p.file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(p.file)},
                    {"time_s", to_seconds(p.result->time).value},
                    {"bound_s", e.bound.time.value},
                    {"fraction_of_bound", p.result->fraction_of_bound()},
                    {"algbw_Bps", algbw_Bps(e.what, p.result->time)},
                    {"busbw_Bps", busbw_Bps(e.what, p.result->time)},
                    {"links_used", p.result->links_used},
                    {"proved", true}});
  }
  return {{"topology", e.topology.name()},
          {"ranks", e.topology.rank_count()},
          {"collective", name_of(e.what.collective.kind)},
          {"size_bytes", e.what.bytes().count},
          {"bound", {{"time_s", e.bound.time.value}, {"rule", e.bound.rule}, {"limit", e.bound.limit}}},
          {"chosen", e.plans[e.chosen()].name},
          {"plans", std::move(rows)},
          {"notes", e.topology.notes()}};
}

void print_outcome(const Flags& flags, const std::vector<PageEntry>& entries, std::size_t bytes) {
  if (!flags.json) {
    fmt::print("{}: {}, {} KiB\n", flags.output,
               entries.size() == 1 ? std::string("1 network") : fmt::format("{} networks", entries.size()),
               bytes / 1024);
    return;
  }
  nlohmann::ordered_json out = document("report");
  out["output"] = flags.output;
  out["page_bytes"] = bytes;
  out["networks"] = nlohmann::ordered_json::array();
  for (const PageEntry& entry : entries) out["networks"].push_back(entry_json(entry));
  print_json(out);
}

Result<int> run(Flags flags) {
  HOCKET_TRY_ASSIGN(const Inputs inputs, sort_inputs(flags));
  HOCKET_TRY_ASSIGN(const Collective collective, agree_on_collective(inputs));
  if (!flags.output.ends_with(".html") && !flags.output.ends_with(".htm"))
    return fail(Code::kInvalidArgument, "{}: the page is written as .html", flags.output);
  HOCKET_TRY(check_writable(flags.output));
  if (!inputs.schedules.empty() && is_rooted(collective.kind)) {
    const std::uint32_t root = flags.amount.root.value_or(collective.root);
    if (root != collective.root)
      return fail(Code::kMismatch, "--root {} but the schedules have root {}", root, collective.root);
    flags.amount.root = root;
  }
  std::optional<ProgressLine> line;
  line.emplace();
  std::deque<Job> jobs;  // entries borrow from it, so it must not move them
  for (const std::string& word : inputs.topologies) {
    jobs.emplace_back();
    HOCKET_TRY(plan_network(flags, word, collective.kind, line->progress(), jobs.back()));
  }
  HOCKET_TRY(add_schedules(inputs, jobs));
  std::vector<PageEntry> entries;
  entries.reserve(jobs.size());
  for (const Job& job : jobs) entries.push_back(entry_of(job));
  line->progress().begin("drawing the page");
  HOCKET_TRY_ASSIGN(const std::string page, make_page(entries));
  line.reset();
  HOCKET_TRY(write_file(flags.output, page));
  for (const Job& job : jobs) flags.amount.note_cut(job.what);
  print_outcome(flags, entries, page.size());
  return 0;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("inputs", flags->inputs,
                 "a collective word (first; all_reduce when left out), networks as words (torus:4x4) or files, and "
                 "schedule files (.hkt, its .json view, MSCCL XML) to lay beside the plans");
  app.add_option("--topo", flags->topologies, "a network, words or a file; repeat for several")
      ->allow_extra_args(false);
  flags->changes.declare_changes(app);
  flags->amount.declare(app);
  flags->simulation.declare(app);
  app.add_option("-o,--output", flags->output, "the page to write")->required();
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_report{
    .name = "report",
    .summary = "write one self-contained HTML page about planned collectives",
    .example = "hocket report all_reduce --topo torus:4x4 --size 64MiB -o page.html",
    .declare = declare,
};

}  // namespace hocket

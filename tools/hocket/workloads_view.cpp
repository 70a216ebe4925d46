#include "workloads_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/file.h"
#include "exchange/csv.h"
#include "flags.h"
#include "losses.h"
#include "memory_view.h"
#include "planner/group_choice.h"
#include "report/table.h"
#include "simulator/graph_step.h"
#include "simulator/step_metrics.h"
#include "simulator/step_timeline.h"
#include "topology/spec.h"
#include "workload/placed_graphs.h"

namespace hocket {
namespace {

struct Job {
  ImportedGraph work;
  std::vector<std::uint32_t> ranks;
};

/// Times of a step of each job.
struct Row {
  CommunicationEngine engine;
  std::vector<double> alone_s, together_s;
  std::vector<StepInterval> timeline;
};

/// "0,2,4-7" or names of npus as ranks of the platform, ascending.
Result<std::vector<std::uint32_t>> ranks_of(const Topology& topology, const std::string& words) {
  HOCKET_TRY_ASSIGN(const Topology group, apply_changes(topology, {.group = words}));
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < topology.rank_count(); ++rank) {
    for (std::uint32_t member = 0; member < group.rank_count(); ++member) {
      if (group.vertex_of(member) == topology.vertex_of(rank)) ranks.push_back(rank);
    }
  }
  return ranks;
}

Result<Job> load_job(const GraphFlags& graph, const StepFlags& step, const Platform& platform,
                     const std::vector<std::uint32_t>& ranks) {
  const auto count = static_cast<std::uint32_t>(ranks.size());
  HOCKET_TRY_ASSIGN(ImportedGraph work, load_work(graph, step, platform, {count, {count}}));
  return Job{std::move(work), ranks};
}

/// The others' models are as they usually are; what is else, a file can say.
Result<std::deque<Job>> load_jobs(const WorkloadsRequest& request, const Platform& platform, const Topology& topology) {
  if (request.groups.size() != request.others.size() || request.group.empty()) {
    return fail(Code::kInvalidArgument, "{} --with and {} --with-group{}: each workload needs a group",
                request.others.size(), request.groups.size(), request.group.empty() ? ", no --group" : "");
  }
  std::deque<Job> jobs;
  HOCKET_TRY_ASSIGN(std::vector<std::uint32_t> ranks, ranks_of(topology, request.group));
  HOCKET_TRY_ASSIGN(Job first, load_job(request.first, request.step, platform, ranks));
  jobs.push_back(std::move(first));
  for (std::size_t k = 0; k < request.others.size(); ++k) {
    GraphFlags graph;
    graph.file = request.others[k];
    HOCKET_TRY_ASSIGN(ranks, ranks_of(topology, request.groups[k]));
    HOCKET_TRY_ASSIGN(Job job, load_job(graph, {}, platform, ranks));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// When the last rank of a job has ended, per step.
double step_of(const GraphResult& result, const Job& job, std::uint32_t steps) {
  Picos last;
  for (const std::uint32_t rank : job.ranks) last = std::max(last, result.ended[rank]);
  return to_seconds(last).value / steps;
}

class Simulation {
 public:
  Simulation(const std::deque<Job>& jobs, const StepMachine& machine, const GroupChooser& choose,
             const StepOptions& options)
      : jobs_(jobs), machine_(machine), choose_(choose), options_(options) {
    options_.fold = false;  // every rank's end is wanted
  }

  Result<Row> run() const {
    Row row{machine_.engine, {}, {}, {}};
    std::vector<PlacedGraph> all;
    all.reserve(jobs_.size());
    for (const Job& job : jobs_) all.push_back({job.work.graph, job.ranks});
    HOCKET_TRY_ASSIGN(GraphResult together, run(all));
    for (std::size_t k = 0; k < jobs_.size(); ++k) {
      row.together_s.push_back(step_of(together, jobs_[k], options_.steps));
      if (jobs_.size() == 1) continue;
      HOCKET_TRY_ASSIGN(const GraphResult alone, run({&all[k], 1}));
      row.alone_s.push_back(step_of(alone, jobs_[k], options_.steps));
    }
    if (jobs_.size() == 1) row.alone_s = row.together_s;
    row.timeline = std::move(together.step.timeline);
    return row;
  }

 private:
  [[nodiscard]] Result<GraphResult> run(std::span<const PlacedGraph> jobs) const {
    HOCKET_TRY_ASSIGN(const TaskGraph graph, join_graphs(jobs, machine_.topology.rank_count()));
    return simulate_graph(graph, machine_, choose_, options_);
  }

  const std::deque<Job>& jobs_;
  const StepMachine& machine_;
  const GroupChooser& choose_;
  StepOptions options_;
};

const WorkMemory* memory_of(const Job& job) { return job.work.graph.memory ? &*job.work.graph.memory : nullptr; }

bool all_fit(const std::deque<Job>& jobs, const Platform& platform) {
  return std::all_of(jobs.begin(), jobs.end(), [&](const Job& job) {
    return fits(memory_of(job), smallest_memory(platform, job.ranks)).value_or(true);
  });
}

void print_document(const std::deque<Job>& jobs, const Platform& platform, const std::vector<Row>& rows) {
  nlohmann::ordered_json out = document("sim");
  out["platform"] = platform.name;
  for (const Job& job : jobs) {
    out["workloads"].push_back({{"workload", job.work.graph.name},
                                {"workload_source", job.work.graph.source},
                                {"ranks", job.ranks},
                                {"memory", memory_json(memory_of(job), smallest_memory(platform, job.ranks))},
                                {"losses", losses_json(job.work.losses)}});
  }
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      out["rows"].push_back({{"endpoint", row.engine.name},
                             {"workload", k + 1},
                             {"step_time_s", row.together_s[k]},
                             {"alone_s", row.alone_s[k]},
                             {"slowdown", row.together_s[k] / row.alone_s[k]}});
    }
  }
  print_json(out);
}

void print_text(const std::deque<Job>& jobs, const Platform& platform, const std::vector<Row>& rows) {
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const ImportedGraph& work = jobs[k].work;
    fmt::print("workload {}: {} on ranks {} of {}\n", k + 1, work.graph.name, fmt::join(jobs[k].ranks, ","),
               platform.name);
    for (const std::string& line : work.counts) fmt::print("{}\n", line);
    print_losses("note", work.losses);
    if (work.graph.memory)
      fmt::print("{}\n", memory_line(memory_of(jobs[k]), platform.name, smallest_memory(platform, jobs[k].ranks)));
  }
  Table table({"endpoint", "workload", "step", "alone", "slowdown"});
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      table.add({row.engine.name, jobs[k].work.graph.name, format_seconds({row.together_s[k]}),
                 format_seconds({row.alone_s[k]}), fmt::format("{:.3f}", row.together_s[k] / row.alone_s[k])});
    }
  }
  fmt::print("{}all ranks simulated; a step of a workload ends with its last rank\n", table.text());
}

Result<void> write_csv(const std::string& path, const std::deque<Job>& jobs, const std::vector<Row>& rows) {
  std::string text = "endpoint,workload,name,step_time_s,alone_s\n";
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      HOCKET_TRY_ASSIGN(const std::string line,
                        csv_line({row.engine.name, fmt::format("{}", k + 1), jobs[k].work.graph.name,
                                  exact_number(row.together_s[k]), exact_number(row.alone_s[k])}));
      text += line;
    }
  }
  return write_file(path, text);
}

Result<void> write_timeline(const std::string& path, const std::vector<Row>& rows) {
  std::vector<StepTrack> tracks;
  tracks.reserve(rows.size());
  for (const Row& row : rows) tracks.push_back({row.engine.name, row.timeline});
  return write_file(path, step_timeline(tracks, path));
}

}  // namespace

Result<int> simulate_workloads(const WorkloadsRequest& request) {
  if (!request.step.power_cap.empty())
    return fail(Code::kInvalidArgument, "--power-cap: for one workload on all ranks, not with --with or --group");
  if (!request.first.copy.empty())
    return fail(Code::kInvalidArgument, "--write-workload writes one workload: not with --group or --with");
  HOCKET_TRY_ASSIGN(Platform platform, request.step.load());
  HOCKET_TRY_ASSIGN(const Topology topology, request.step.network(platform));
  HOCKET_TRY_ASSIGN(const std::vector<CommunicationEngine> engines, engines_of(platform, request.step));
  HOCKET_TRY_ASSIGN(const std::deque<Job> jobs, load_jobs(request, platform, topology));
  std::vector<Row> rows;
  rows.reserve(engines.size());
  for (const CommunicationEngine& engine : engines) {
    const StepOptions options{.steps = request.step.steps, .timeline = !request.first.timeline.empty()};
    HOCKET_TRY_ASSIGN(const GroupChooser choose, choose_for_groups(request.step.algorithms, platform, engine));
    HOCKET_TRY_ASSIGN(Row row, Simulation(jobs, {platform, topology, engine}, choose, options).run());
    rows.push_back(std::move(row));
  }
  if (!request.csv.empty()) HOCKET_TRY(write_csv(request.csv, jobs, rows));
  if (!request.first.timeline.empty()) HOCKET_TRY(write_timeline(request.first.timeline, rows));
  if (request.json) {
    print_document(jobs, platform, rows);
  } else {
    print_text(jobs, platform, rows);
  }
  return all_fit(jobs, platform) ? 0 : 1;
}

}  // namespace hocket

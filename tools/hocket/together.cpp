#include "together.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "exchange/schedule_format.h"
#include "planner/planner.h"
#include "report/table.h"

namespace hocket {
namespace {

struct Job {
  std::string file;
  CollectiveFlags amount;
  Topology topology;
  Candidate alone;
};

struct LoadedLink {
  LinkId link = 0;
  double seconds = 0;  // bytes of all jobs / rate
};

Result<Job> load_job(const TogetherRequest& request, const std::string& file, const TopologyFlags& topology,
                     const CollectiveFlags& amount) {
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(file));
  const Collective collective = schedule.collective();
  HOCKET_TRY_ASSIGN(Topology own, topology.load());
  Result<VerifiedSchedule> verified = prove(std::move(schedule));
  if (!verified) return fail(verified.error().code, "{}: {}", file, verified.error().text);
  HOCKET_TRY_ASSIGN(const BoundCollective what, amount.bind(collective, file));
  PlanningOptions options;
  HOCKET_TRY_ASSIGN(options.simulate, request.simulation.options());
  HOCKET_TRY_ASSIGN(options.segment, request.simulation.segment_bytes());
  Result<Candidate> alone = simulate_best(*verified, own, what, options);
  if (!alone) return fail(alone.error().code, "{}: {}", file, alone.error().text);
  return Job{file, amount, std::move(own), std::move(*alone)};
}

/// A deque: the jobs' topologies stay where they are.
Result<std::deque<Job>> load_jobs(const TogetherRequest& request) {
  const std::size_t others = request.others.size();
  if (request.sizes.size() > others || request.groups.size() > others)
    return fail(Code::kInvalidArgument, "{} --with-size and {} --with-group for {} --with", request.sizes.size(),
                request.groups.size(), others);
  std::deque<Job> jobs;
  HOCKET_TRY_ASSIGN(Job first, load_job(request, request.file, request.topology, request.amount));
  jobs.push_back(std::move(first));
  for (std::size_t i = 0; i < others; ++i) {
    TopologyFlags topology = request.topology;
    CollectiveFlags amount = request.amount;
    amount.root.reset();
    if (i < request.groups.size()) topology.group = request.groups[i];
    if (i < request.sizes.size()) amount.size = request.sizes[i];
    HOCKET_TRY_ASSIGN(Job job, load_job(request, request.others[i], topology, amount));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Used links, that with the longest least time first.
std::vector<LoadedLink> by_load(const Topology& topology, const SimulationResult& sum) {
  std::vector<LoadedLink> links;
  for (LinkId link = 0; link < sum.link_bytes.size(); ++link) {
    if (sum.link_bytes[link] > 0)
      links.push_back({link, static_cast<double>(sum.link_bytes[link]) / topology.link(link).bandwidth.value});
  }
  std::stable_sort(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return links;
}

double slowdown(const Job& job, Picos together) {
  const double alone = to_seconds(job.alone.simulated.time).value;
  return alone > 0 ? to_seconds(together).value / alone : 1;
}

void print_document(const std::deque<Job>& jobs, const JointResult& joint, const std::vector<LoadedLink>& links) {
  const Topology& topology = jobs.front().topology;
  nlohmann::ordered_json out = document("sim");
  out["model"] = std::string(name_of(joint.sum.model));
  out["time_s"] = to_seconds(joint.sum.time).value;
  out["load_bound_s"] = links.empty() ? 0.0 : links.front().seconds;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Plan& plan = jobs[j].alone.plan;
    out["jobs"].push_back({{"file", jobs[j].file},
                           {"algorithm", plan.schedule().algorithm()},
                           {"collective", std::string(name_of(plan.what().collective.kind))},
                           {"size_bytes", plan.what().bytes().count},
                           {"ranks", plan.what().collective.ranks},
                           {"segment_bytes", plan.segment().count},
                           {"alone_s", to_seconds(jobs[j].alone.simulated.time).value},
                           {"together_s", to_seconds(joint.times[j]).value},
                           {"slowdown", slowdown(jobs[j], joint.times[j])},
                           {"bound_alone_s", jobs[j].alone.simulated.bound.time.value}});
  }
  for (const LoadedLink& l : links) {
    nlohmann::ordered_json bytes = nlohmann::ordered_json::array();
    for (const auto& of_job : joint.link_bytes) bytes.push_back(of_job[l.link]);
    out["links"].push_back({{"link", l.link},
                            {"name", topology.describe_link(l.link)},
                            {"bytes", joint.sum.link_bytes[l.link]},
                            {"bytes_by_job", bytes},
                            {"least_s", l.seconds},
                            {"utilisation", joint.sum.utilisation(l.link)}});
  }
  print_json(out);
}

void print_jobs(const std::deque<Job>& jobs, const JointResult& joint) {
  Table table({"job", "schedule", "collective", "size", "ranks", "alone", "together", "slowdown"});
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Plan& plan = jobs[j].alone.plan;
    table.add({fmt::format("{}", j + 1), jobs[j].file, std::string(name_of(plan.what().collective.kind)),
               format_bytes(plan.what().bytes()), fmt::format("{}", plan.what().collective.ranks),
               format_seconds(to_seconds(jobs[j].alone.simulated.time)), format_seconds(to_seconds(joint.times[j])),
               fmt::format("{:.2f}x", slowdown(jobs[j], joint.times[j]))});
  }
  fmt::print("{}", table.text());
}

void print_links(const std::deque<Job>& jobs, const JointResult& joint, const std::vector<LoadedLink>& links) {
  constexpr std::size_t kShown = 8, kJobsShown = 4;
  const Topology& topology = jobs.front().topology;
  std::vector<std::string> head{"link", "bytes"};
  for (std::size_t j = 0; j < jobs.size() && j < kJobsShown; ++j) head.push_back(fmt::format("job {}", j + 1));
  head.insert(head.end(), {"least time", "busy %"});
  Table table(head);
  for (std::size_t i = 0; i < links.size() && i < kShown; ++i) {
    const LinkId link = links[i].link;
    std::vector<std::string> row{topology.describe_link(link), format_bytes({joint.sum.link_bytes[link]})};
    for (std::size_t j = 0; j < jobs.size() && j < kJobsShown; ++j)
      row.push_back(format_bytes({joint.link_bytes[j][link]}));
    row.push_back(format_seconds({links[i].seconds}));
    row.push_back(fmt::format("{:.1f}", 100 * joint.sum.utilisation(link)));
    table.add(row);
  }
  fmt::print("{} of {} links used; heaviest:\n{}", links.size(), topology.links().size(), table.text());
}

std::string loaders_of(const std::deque<Job>& jobs, const JointResult& joint, LinkId link) {
  std::string names;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (joint.link_bytes[j][link] > 0) names += fmt::format("{}{}", names.empty() ? "job " : ", ", j + 1);
  }
  return names;
}

}  // namespace

Result<int> simulate_jobs(const TogetherRequest& request) {
  HOCKET_TRY_ASSIGN(const std::deque<Job> jobs, load_jobs(request));
  std::vector<SimulatedJob> running;
  running.reserve(jobs.size());
  for (const Job& job : jobs) running.push_back({&job.alone.plan, &job.topology});
  HOCKET_TRY_ASSIGN(const SimulateOptions options, request.simulation.options());
  HOCKET_TRY_ASSIGN(const JointResult joint, simulate_together(running, options));
  const Topology& topology = jobs.front().topology;
  const std::vector<LoadedLink> links = by_load(topology, joint.sum);
  for (const Job& job : jobs) job.amount.note_cut(job.alone.plan.what());
  if (request.json) {
    print_document(jobs, joint, links);
    return 0;
  }
  fmt::print("{} jobs start at once on {}, {} model\n", jobs.size(), topology.name(), name_of(joint.sum.model));
  print_jobs(jobs, joint);
  const double time = to_seconds(joint.sum.time).value;
  if (!links.empty()) {
    fmt::print("time {}, {:.1f} % of the least that the loads allow, {} ({}, loaded by {})\n", format_seconds({time}),
               time > 0 ? 100 * links.front().seconds / time : 100.0, format_seconds({links.front().seconds}),
               topology.describe_link(links.front().link), loaders_of(jobs, joint, links.front().link));
  }
  print_links(jobs, joint, links);
  return 0;
}

}  // namespace hocket

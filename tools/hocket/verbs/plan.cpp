// hocket plan: every algorithm that fits the topology, proved and simulated, beside the bound; the choice and why.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/say.h"
#include "bounds/statement.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "losses.h"
#include "ni_table_view.h"
#include "planner/plan_cache.h"
#include "planner/planner.h"
#include "planner/tree_weights.h"
#include "progress_line.h"
#include "report/table.h"
#include "size_windows.h"
#include "symmetric_view.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string collective;
  TopologyFlags topology;
  CollectiveFlags amount;
  SimulationFlags simulation;
  std::string algorithm = "auto";
  std::string repair;
  std::string sizes;
  std::string scores;
  std::string cache;
  std::string output;
  std::optional<std::string> ni_table;  // a file, or empty: shown only
  bool spread = false;
  bool symmetric = false;
  bool json = false;
};

struct Job {
  Topology topology;
  BoundCollective what;
  Planning planning;
  SeparatePhases separate;  // all-reduce only
  std::optional<NiStudy> interfaces;
  std::optional<std::vector<WeighedTree>> trees;  // of the chosen plan
};

/// The link that is busy longest: what it carries one way as a share of the vector, and the time it needs for that.
struct LinkNeed {
  LinkId link = 0;
  double share = 0;
  Seconds time{};
};

LinkNeed longest_busy(const Job& job, const Candidate& c) {
  LinkNeed need;
  for (LinkId id = 0; id < c.simulated.link_bytes.size(); ++id) {
    const auto bytes = static_cast<double>(c.simulated.link_bytes[id]);
    const Seconds time{bytes / job.topology.link(id).bandwidth.value};
    if (time.value > need.time.value) need = {id, bytes / static_cast<double>(job.what.bytes().count), time};
  }
  return need;
}

nlohmann::ordered_json candidate_json(const Job& job, const Candidate& c) {
  const SimulationResult& s = c.simulated;
  const double time = to_seconds(s.time).value;
  return {{"algorithm", c.algorithm},
          {"time_s", time},
          {"algbw_Bps", algbw_Bps(job.what, s.time)},
          {"busbw_Bps", busbw_Bps(job.what, s.time)},
          {"fraction_of_bound", time > 0 ? job.planning.bound.time.value / time : 1.0},
          {"bound_s", job.planning.bound.time.value},
          {"busiest_link", s.links_used == 0 ? "" : job.topology.describe_link(s.busiest_link)},
          {"links_used", s.links_used},
          {"links", job.topology.links().size()},
          {"steps", c.plan.schedule().steps()},
          {"proved", true},
          {"segment_bytes", c.plan.segment().count},
          {"safe_depth", c.plan.verified().safe_depth()},
          {"in_place", c.plan.verified().in_place()},
          {"ops", c.plan.schedule().ops().size()},
          {"synthesis_s", c.synthesis_s},
          {"proof_s", c.proof_s},
          {"fingerprint", c.plan.fingerprint().text()}};
}

nlohmann::ordered_json trees_json(const Job& job) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  if (!job.trees) return out;
  for (const WeighedTree& tree : *job.trees) {
    out.push_back({{"root", tree.root}, {"height", tree.height}, {"weight", tree.weight}});
  }
  return out;
}

void print_document(const Job& job, const LossReport& lost) {
  nlohmann::ordered_json out = document("plan");
  out["collective"] = std::string(name_of(job.what.collective.kind));
  out["topology"] = job.topology.name();
  out["ranks"] = job.what.collective.ranks;
  out["size_bytes"] = job.what.bytes().count;
  out["bound"] = {{"time_s", job.planning.bound.time.value},
                  {"rule", job.planning.bound.rule},
                  {"limit", job.planning.bound.limit},
                  {"bandwidth_s", job.planning.bound.bandwidth.value},
                  {"latency_s", job.planning.bound.latency.value},
                  {"statement", statement_of(job.planning.bound, job.topology, job.what)},
                  {"parts", job.planning.bound.parts}};
  if (job.separate.time.value > 0) {
    out["separate_phases"] = {{"time_s", job.separate.time.value}, {"limit", job.separate.limit}};
  }
  out["candidates"] = nlohmann::ordered_json::array();
  for (const Candidate& c : job.planning.candidates) out["candidates"].push_back(candidate_json(job, c));
  out["skipped"] = nlohmann::ordered_json::array();
  for (const Skipped& s : job.planning.skipped)
    out["skipped"].push_back({{"algorithm", s.algorithm}, {"reason", s.reason}});
  out["chosen"] = job.planning.candidates[job.planning.chosen].algorithm;
  out["reason"] = job.planning.reason;
  out["trees"] = trees_json(job);
  out["notes"] = job.topology.notes();
  if (job.interfaces) {
    out["ni_tables"] = ni_study_json(*job.interfaces, job.planning.candidates[job.planning.chosen].plan);
  }
  out["lost"] = losses_json(lost);
  print_json(out);
}

std::string percent_of_bound(const Job& job, const Candidate& c) {
  const double time = to_seconds(c.simulated.time).value;
  return time > 0 ? fmt::format("{:.1f}", 100 * job.planning.bound.time.value / time) : std::string("-");
}

/// Wrapped at 100 columns, two further in from the second line on.
std::string indented(std::string_view text) {
  constexpr std::size_t kColumns = 100;
  std::string result;
  for (std::size_t indent = 2; !text.empty(); indent = 4) {
    std::size_t end = text.size();
    if (indent + end > kColumns) {
      end = text.rfind(' ', kColumns - indent);
      if (end == std::string_view::npos) end = text.find(' ');
    }
    result += fmt::format("{:{}}{}\n", "", indent, text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? end : end + 1));
  }
  return result;
}

/// What the bound means, and what separate phases would need.
std::vector<std::string> bound_statements(const Job& job) {
  std::vector<std::string> lines;
  const Bound& bound = job.planning.bound;
  if (bound.rule == "latency" && bound.bandwidth_rule != "none") {
    lines.push_back(fmt::format("bandwidth alone: {} ({})", format_seconds(bound.bandwidth),
                                certificate_text(bound.bandwidth_rule, bound.bandwidth_limit)));
  }
  lines.push_back(statement_of(bound, job.topology, job.what));
  lines.push_back(statement_of(job.separate));
  std::erase(lines, "");
  return lines;
}

/// The chosen plan's own side of the certificate.
void print_trees(const Job& job) {
  const Candidate& chosen = job.planning.candidates[job.planning.chosen];
  if (!job.trees || chosen.simulated.links_used == 0) return;
  const LinkNeed need = longest_busy(job, chosen);
  fmt::print("\n{} moves data along {}.\n", chosen.algorithm, text_of(*job.trees));
  fmt::print("{}",
             indented(fmt::format("link {} is busy longest, with {:.4g} of the data one way: {}; bandwidth bound {}",
                                  job.topology.describe_link(need.link), need.share, format_seconds(need.time),
                                  format_seconds(job.planning.bound.bandwidth))));
}

void print_table(const Job& job) {
  fmt::print("{} of {} over {} ranks on {}\n", name_of(job.what.collective.kind), format_bytes(job.what.bytes()),
             job.what.collective.ranks, job.topology.name());
  for (const std::string& note : job.topology.notes()) fmt::print("note: {}\n", note);
  fmt::print("lower bound {} ({})\n", format_seconds(job.planning.bound.time),
             certificate_text(job.planning.bound.rule, job.planning.bound.limit));
  for (const std::string& line : bound_statements(job)) fmt::print("{}", indented(line));
  fmt::print("\n");
  Table table(
      {"algorithm", "time", "algbw GB/s", "busbw GB/s", "% of bound", "busiest link", "links", "steps", "proved"});
  for (const Candidate& c : job.planning.candidates) {
    table.add({c.algorithm, format_seconds(to_seconds(c.simulated.time)),
               fmt::format("{:.2f}", algbw_Bps(job.what, c.simulated.time) / 1e9),
               fmt::format("{:.2f}", busbw_Bps(job.what, c.simulated.time) / 1e9), percent_of_bound(job, c),
               c.simulated.links_used == 0 ? "-" : job.topology.describe_link(c.simulated.busiest_link),
               fmt::format("{}/{}", c.simulated.links_used, job.topology.links().size()),
               fmt::format("{}", c.plan.schedule().steps()), "yes"});
  }
  fmt::print("{}", table.text());
  for (const Skipped& s : job.planning.skipped) fmt::print("skipped {}: {}\n", s.algorithm, s.reason);
  print_trees(job);
  fmt::print("\n{}\n", emphasised("chosen: " + job.planning.reason));
}

/// Repairs the schedule of a file for the topology at hand; says what it reached on the one without --break.
Result<Planning> plan_repair(const Flags& flags, const Topology& topology, const BoundCollective& what,
                             const PlanningOptions& options) {
  HOCKET_TRY_ASSIGN(const Schedule old, load_schedule(flags.repair));
  TopologyFlags whole = flags.topology;
  whole.breaks.clear();
  HOCKET_TRY_ASSIGN(const Topology before, whole.load());
  HOCKET_TRY_ASSIGN(Planning planning, repair_plan(old, before, topology, what, options));
  HOCKET_TRY_ASSIGN(const VerifiedSchedule verified, prove(old));
  CollectiveFlags amount = flags.amount;
  amount.root.reset();  // it counts ranks that are left
  HOCKET_TRY_ASSIGN(const BoundCollective was, amount.bind(old.collective(), flags.repair));
  HOCKET_TRY_ASSIGN(const Plan plan, Plan::bind(verified, was, planning.candidates[0].plan.segment()));
  SimulateOptions simulation = options.simulate;
  simulation.bound = nullptr;
  HOCKET_TRY_ASSIGN(const SimulationResult result, simulate(plan, before, simulation));
  planning.reason += fmt::format("; before the loss it reached {:.1f} % of that network's bound",
                                 100 * result.bound.time.value / to_seconds(result.time).value);
  return planning;
}

/// Takes the plan from the folder or puts it there; `damage`: why an entry was not used. Without a folder it is
/// planned.
Result<Planning> plan_with_cache(const std::string& folder, const Topology& topology, const BoundCollective& what,
                                 const PlanningOptions& options, std::string& damage) {
  if (folder.empty() || what.collective.ranks == 1) return plan_collective(topology, what, options);
  HOCKET_TRY_ASSIGN(const PlanCache cache, PlanCache::open(folder));
  HOCKET_TRY_ASSIGN(std::optional<Planning> known, cache.find(topology, what, options, damage));
  if (known) return std::move(*known);
  HOCKET_TRY_ASSIGN(Planning planning, plan_collective(topology, what, options));
  HOCKET_TRY_ASSIGN(const std::string path, cache.store(topology, what, options, planning));
  planning.reason += fmt::format("; kept as {}", path);
  return planning;
}

Result<Planning> plan(const Flags& flags, const Topology& topology, const BoundCollective& what,
                      PlanningOptions options, std::string& damage) {
  ProgressLine line;
  options.simulate.progress = &line.progress();
  return flags.repair.empty() ? plan_with_cache(flags.cache, topology, what, options, damage)
                              : plan_repair(flags, topology, what, options);
}

/// What a plan that is never written out cannot have.
Result<void> check_symmetric(const Flags& flags) {
  if (flags.simulation.model != "message")
    return fail(Code::kUnsupported, "--symmetric has the message model, not '{}'", flags.simulation.model);
  for (const auto& [name, given] : {std::pair("--output", !flags.output.empty()),
                                    {"--sizes", !flags.sizes.empty()},
                                    {"--repair", !flags.repair.empty()},
                                    {"--scores", !flags.scores.empty()},
                                    {"--spread", flags.spread},
                                    {"--ni-table", flags.ni_table.has_value()}}) {
    if (given) return fail(Code::kUnsupported, "--symmetric never writes the schedule out: not with {}", name);
  }
  return {};
}

Result<int> run(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const CollectiveKind kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(Topology topology, flags.topology.load());
  HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(kind, topology.rank_count()));
  if (!flags.output.empty()) HOCKET_TRY(check_writable(flags.output));
  if (flags.ni_table && !flags.ni_table->empty()) HOCKET_TRY(check_writable(*flags.ni_table));
  if (!flags.output.empty() && flags.sizes.empty()) HOCKET_TRY(schedule_format_for_path(flags.output));
  PlanningOptions options;
  options.algorithm = flags.algorithm;
  options.spread = flags.spread;
  HOCKET_TRY_ASSIGN(options.segment, flags.simulation.segment_bytes());
  HOCKET_TRY_ASSIGN(options.simulate, flags.simulation.options());
  if (flags.symmetric) HOCKET_TRY(check_symmetric(flags));
  const bool keeps = flags.sizes.empty() && flags.repair.empty() && !flags.symmetric;
  if (!flags.cache.empty() && !keeps)
    say("note: the cache '{}' holds plans of one size and algorithm choice: not used here\n", flags.cache);
  if (!flags.repair.empty() && flags.algorithm != "auto")
    return fail(Code::kInvalidArgument, "--repair keeps the schedule of its file: not with --algo {}", flags.algorithm);
  if (!flags.repair.empty() && flags.spread)
    return fail(Code::kInvalidArgument, "--repair keeps the ways of its file: not with --spread");
  if (!flags.repair.empty() && !flags.scores.empty())
    return fail(Code::kInvalidArgument, "--repair keeps the schedule of its file: not with --scores");
  if (flags.symmetric) {
    Result<int> shown = show_symmetric(topology, what, {flags.algorithm, options.segment}, flags.json);
    if (shown) flags.amount.note_cut(what);
    return shown;
  }
  Scores scores;
  if (!flags.scores.empty()) {
    HOCKET_TRY_ASSIGN(scores, Scores::load(flags.scores));
    options.scores = &scores;
  }
  if (!flags.sizes.empty()) {
    if (flags.ni_table) return fail(Code::kInvalidArgument, "--sizes has no one plan for --ni-table");
    if (!flags.repair.empty())
      return fail(Code::kInvalidArgument, "--sizes chooses among algorithms: not with --repair");
    return show_windows(topology, what, {flags.sizes, flags.output, flags.json}, options);
  }
  std::string damage;
  Result<Planning> planning = plan(flags, topology, what, options, damage);
  if (!planning) return tl::unexpected<Error>(std::move(planning.error()));
  const SeparatePhases separate = separate_phases(topology, what);
  Job job{std::move(topology), what, std::move(*planning), separate, {}, {}};
  const Plan& chosen = job.planning.candidates[job.planning.chosen].plan;
  job.trees = weigh_trees(chosen.schedule());
  if (flags.ni_table) {
    HOCKET_TRY_ASSIGN(job.interfaces, study_ni_tables(chosen, job.topology, options.simulate));
  }
  // Both files or none, as far as it can be told before.
  if (!flags.output.empty()) HOCKET_TRY(save_schedule(chosen.schedule(), flags.output));
  if (flags.ni_table && !flags.ni_table->empty()) HOCKET_TRY(write_ni_study(*job.interfaces, chosen, *flags.ni_table));
  if (!damage.empty()) say("note: planned anew, the cache's entry is not used: {}\n", damage);
  flags.amount.note_cut(what);
  const LossReport lost = flags.output.empty() ? LossReport{} : losses_of_saving(chosen.schedule(), flags.output);
  if (flags.json) {
    print_document(job, lost);
    return 0;
  }
  print_table(job);
  if (!flags.output.empty()) {
    fmt::print("wrote {}: '{}', {} ops; simulated with --segment {}\n", flags.output, chosen.schedule().algorithm(),
               chosen.schedule().ops().size(), format_bytes(chosen.segment()));
    print_losses("lost", lost);
  }
  if (job.interfaces) show_ni_study(*job.interfaces, chosen);
  return 0;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("collective", flags->collective, "all_reduce reduce_scatter all_gather broadcast reduce all_to_all")
      ->required();
  flags->topology.declare(app, false, true);
  flags->amount.declare(app);
  flags->simulation.declare(app);
  app.add_option("--algo", flags->algorithm, "an algorithm, some with commas between, auto or all")
      ->capture_default_str();
  app.add_option("--repair", flags->repair,
                 "a schedule planned before the --break: changed where it must be, not planned anew");
  app.add_option("--sizes", flags->sizes, "FROM:TO: which algorithm at which size, instead of one --size")
      ->excludes(app.get_option("--size"));
  app.add_option_function<std::string>(
         "--ni-table", [flags](const std::string& file) { flags->ni_table = file == "-" ? "" : file; },
         "the plan as network-interface tables, in lock step and not; FILE (.nit) gets all of them, - none")
      ->expected(0, 1)
      ->default_str("-");
  app.add_option("--scores", flags->scores, "a YAML file of algorithms to take, or factors on their times, by size");
  app.add_option("--cache", flags->cache, "a folder of plans of one size: taken from there, or planned and kept there")
      ->envname("HOCKET_CACHE");
  app.add_flag("--spread", flags->spread,
               "messages whose algorithm leaves their way open are spread over the shortest ones where that is faster");
  app.add_flag("--symmetric", flags->symmetric,
               "MultiTree, or --algo ring or dimension_rings, for one vertex in place of all: networks of thousands "
               "that look the same from each; no file");
  app.add_option("-o,--output", flags->output,
                 "file for the chosen schedule, by extension: .hkt .json .xml .mscclpp.json .graph.xml .dot .svg");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_plan{
    .name = "plan",
    .summary = "plan a collective on a topology: candidates, bound, choice",
    .example = "hocket plan all_reduce --topo torus:4x4 --link 16GB/s,150ns --size 64MiB --algo all",
    .declare = declare,
};

}  // namespace hocket

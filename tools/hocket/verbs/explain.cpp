// hocket explain: why a plan was chosen: the candidates, the rule, bound and bottleneck, and what would change the
// choice: the sizes and the rates of cables at which another one is the fastest.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "bounds/statement.h"
#include "flags.h"
#include "planner/planner.h"
#include "planner/what_if.h"
#include "planner/windows.h"
#include "progress_line.h"
#include "report/table.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string collective;
  TopologyFlags topology;
  CollectiveFlags amount;
  SimulationFlags simulation;
  std::string algorithm = "auto";
  std::string scores;
  std::string sizes = "1KiB:1GiB";
  bool spread = false;
  bool json = false;
};

/// All that is said, text or JSON.
struct Explanation {
  const Topology& topology;
  const BoundCollective& what;
  const Planning& planning;
  std::vector<SizeWindow> windows;
  WhatIf rates;
};

/// The windows of --sizes, widened so that they hold the size at hand.
Result<std::vector<SizeWindow>> windows_around(const Topology& topology, const BoundCollective& what,
                                               const std::string& sizes, const PlanningOptions& options) {
  HOCKET_TRY_ASSIGN(auto range, parse_size_range(sizes));
  const Bytes size = what.bytes();
  if (size.count > 0 && size < range.first) range.first = size;
  if (range.second < size) range.second = size;
  return plan_windows(topology, what, range.first, range.second, options);
}

std::string cable_name(const Topology& topology, LinkId link) {
  const Link& l = topology.link(link);
  return fmt::format("{} - {}", topology.vertices()[l.from].name, topology.vertices()[l.to].name);
}

void print_candidates(const Planning& planning) {
  std::vector<const Candidate*> order;
  order.reserve(planning.candidates.size());
  for (const Candidate& c : planning.candidates) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate* a, const Candidate* b) { return a->simulated.time < b->simulated.time; });
  Table table({"candidate", "time", "of the fastest", "% of bound", "steps", "segments of"});
  const auto fastest = static_cast<double>(std::max<std::int64_t>(1, order.front()->simulated.time.count));
  for (const Candidate* c : order) {
    table.add({c->algorithm, format_seconds(to_seconds(c->simulated.time)),
               fmt::format("{:.2f}x", static_cast<double>(c->simulated.time.count) / fastest),
               fmt::format("{:.1f}", 100 * c->simulated.fraction_of_bound()),
               fmt::format("{}", c->plan.schedule().steps()), format_bytes(c->plan.segment())});
  }
  fmt::print("{}", table.text());
  for (const Skipped& s : planning.skipped) fmt::print("skipped {}: {}\n", s.algorithm, s.reason);
}

void print_bottleneck(const Topology& topology, const Planning& planning) {
  const SimulationResult& r = planning.candidates[planning.chosen].simulated;
  std::vector<LinkId> order(r.link_busy.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](LinkId a, LinkId b) { return r.link_busy[a].count > r.link_busy[b].count; });
  if (r.links_used == 0) {
    fmt::print("bottleneck   none: no link carries anything\n");
    return;
  }
  fmt::print("bottleneck   ");
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i) {
    fmt::print("{}{} busy {:.1f} %", i == 0 ? "" : ", ", topology.describe_link(order[i]),
               100 * r.utilisation(order[i]));
  }
  fmt::print("; {} of {} links used\n", r.links_used, order.size());
}

void print_size_changes(const Explanation& e) {
  const Bytes size = e.what.bytes();
  const auto at = std::find_if(e.windows.begin(), e.windows.end(),
                               [&](const SizeWindow& w) { return !(size < w.from) && !(w.to < size); });
  if (at == e.windows.end()) return;
  if (at != e.windows.begin()) fmt::print("  size below {}: {}\n", format_bytes(at->from), (at - 1)->algorithm);
  if (at + 1 != e.windows.end()) fmt::print("  size from {}: {}\n", format_bytes((at + 1)->from), (at + 1)->algorithm);
  if (e.windows.size() == 1) fmt::print("  no size from {} to {}\n", format_bytes(at->from), format_bytes(at->to));
}

void print_rate_changes(const Explanation& e) {
  for (const CableChange& c : e.rates.changes) {
    const std::string cable = cable_name(e.topology, c.link);
    if (c.factor == 1) {
      fmt::print("  cable {}: no rate from 1/{:.0f} to {:.0f} times its own\n", cable, kFactorMost, kFactorMost);
      continue;
    }
    const double rate = e.topology.link(c.link).bandwidth.value * c.factor;
    fmt::print("  cable {} at {:.2f} times its rate ({}): {}\n", cable, c.factor, format_bandwidth({rate}),
               c.algorithm);
  }
  if (!e.rates.left_out.empty()) fmt::print("  rates: {}\n", e.rates.left_out);
}

void print_document(const Explanation& e, const std::string& model) {
  const Planning& planning = e.planning;
  nlohmann::ordered_json out = document("explain");
  out["chosen"] = planning.candidates[planning.chosen].algorithm;
  out["reason"] = planning.reason;
  out["rule"] = planning.wish.empty() ? "least simulated time" : "asked for by " + planning.wish;
  out["model"] = model;
  out["bound"] = {{"time_s", planning.bound.time.value},
                  {"rule", planning.bound.rule},
                  {"limit", planning.bound.limit},
                  {"latency_s", planning.bound.latency.value},
                  {"bandwidth_s", planning.bound.bandwidth.value}};
  for (const Candidate& c : planning.candidates) {
    out["candidates"].push_back(
        {{"algorithm", c.algorithm},
         {"time_s", to_seconds(c.simulated.time).value},
         {"fraction_of_bound", c.simulated.fraction_of_bound()},
         {"busiest_link", c.simulated.links_used == 0 ? "" : e.topology.describe_link(c.simulated.busiest_link)},
         {"segment_bytes", c.plan.segment().count}});
  }
  out["skipped"] = nlohmann::ordered_json::array();
  for (const Skipped& s : planning.skipped)
    out["skipped"].push_back({{"algorithm", s.algorithm}, {"reason", s.reason}});
  for (const SizeWindow& w : e.windows) {
    out["by_size"].push_back({{"size_bytes", w.from.count},
                              {"to_bytes", w.to.count},
                              {"algorithm", w.algorithm},
                              {"time_s", w.time_from_s},
                              {"fraction_of_bound", w.fraction_from}});
  }
  out["by_rate"] = nlohmann::ordered_json::array();
  for (const CableChange& c : e.rates.changes) {
    out["by_rate"].push_back({{"cable", cable_name(e.topology, c.link)},
                              {"link", c.link},
                              {"factor", c.factor},
                              {"bandwidth_Bps", e.topology.link(c.link).bandwidth.value * c.factor},
                              {"algorithm", c.algorithm}});
  }
  out["by_rate_left_out"] = e.rates.left_out;
  print_json(out);
}

void print_text(const Explanation& e, const std::string& model) {
  const Planning& planning = e.planning;
  fmt::print("choice       {}\n", planning.reason);
  if (e.what.collective.ranks == 1) return;
  if (planning.wish.empty()) {
    fmt::print("rule         least simulated time among the proved candidates ({} model)\n", model);
  } else {
    fmt::print("rule         the score file asks for it ({})\n", planning.wish);
  }
  fmt::print("bound        {}: latency {}, bandwidth {} ({})\n", format_seconds(planning.bound.time),
             format_seconds(planning.bound.latency), format_seconds(planning.bound.bandwidth),
             certificate_text(planning.bound.bandwidth_rule, planning.bound.bandwidth_limit));
  print_bottleneck(e.topology, planning);
  print_candidates(planning);
  fmt::print("by size:\n");
  Table table({"from", "to", "choice", "time from", "time to"});
  for (const SizeWindow& w : e.windows) {
    table.add({format_bytes(w.from), format_bytes(w.to), w.algorithm, format_seconds({w.time_from_s}),
               format_seconds({w.time_to_s})});
  }
  fmt::print("{}", table.text());
  fmt::print("would change the choice:\n");
  print_size_changes(e);
  print_rate_changes(e);
}

Result<int> run(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const CollectiveKind kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(const Topology topology, flags.topology.load());
  HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(kind, topology.rank_count()));
  PlanningOptions options;
  options.algorithm = flags.algorithm;
  options.spread = flags.spread;
  HOCKET_TRY_ASSIGN(options.simulate, flags.simulation.options());
  HOCKET_TRY_ASSIGN(options.segment, flags.simulation.segment_bytes());
  Scores scores;
  if (!flags.scores.empty()) {
    HOCKET_TRY_ASSIGN(scores, Scores::load(flags.scores));
    options.scores = &scores;
  }
  std::optional<ProgressLine> line;
  line.emplace();
  options.simulate.progress = &line->progress();
  HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(topology, what, options));
  Explanation explanation{topology, what, planning, {}, {}};
  if (what.collective.ranks > 1) {
    HOCKET_TRY_ASSIGN(explanation.windows, windows_around(topology, what, flags.sizes, options));
    HOCKET_TRY_ASSIGN(explanation.rates, what_if_rates(topology, what, planning, options));
  }
  line.reset();
  flags.amount.note_cut(what);
  if (flags.json) {
    print_document(explanation, flags.simulation.model);
  } else {
    print_text(explanation, flags.simulation.model);
  }
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
  app.add_option("--scores", flags->scores, "a YAML file of algorithms to take, or factors on their times, by size");
  app.add_option("--sizes", flags->sizes, "FROM:TO: the sizes looked at for other choices")->capture_default_str();
  app.add_flag("--spread", flags->spread,
               "messages whose algorithm leaves their way open are spread over the shortest ones where that is faster");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_explain{
    .name = "explain",
    .summary = "why a plan is chosen, and at which sizes and rates another would be",
    .example = "hocket explain all_reduce --topo torus:4x4 --size 64MiB",
    .declare = declare,
};

}  // namespace hocket

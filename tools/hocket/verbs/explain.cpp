// hocket explain: why a plan was chosen: bound and its certificate, the bottleneck, and the sizes at which the choice
// would change.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "bounds/statement.h"
#include "flags.h"
#include "planner/planner.h"
#include "report/table.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string collective;
  TopologyFlags topology;
  CollectiveFlags amount;
  SimulationFlags simulation;
  bool json = false;
};

struct SizeChoice {
  Bytes size;
  std::string algorithm;
  double time_s = 0;
  double fraction_of_bound = 0;
};

Result<std::vector<SizeChoice>> choices_by_size(const Topology& topology, const Flags& flags, CollectiveKind kind) {
  std::vector<SizeChoice> choices;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 32) {
    CollectiveFlags amount = flags.amount;
    amount.size = fmt::format("{}B", bytes);
    HOCKET_TRY_ASSIGN(const BoundCollective what, amount.bind(kind, topology.rank_count()));
    PlanningOptions options;
    HOCKET_TRY_ASSIGN(options.simulate, flags.simulation.options());
    HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(topology, what, options));
    const Candidate& best = planning.candidates[planning.chosen];
    choices.push_back(
        {{bytes}, best.algorithm, to_seconds(best.simulated.time).value, best.simulated.fraction_of_bound()});
  }
  return choices;
}

void print_bottleneck(const Topology& topology, const Planning& planning) {
  const SimulationResult& r = planning.candidates[planning.chosen].simulated;
  std::vector<LinkId> order(r.link_busy.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](LinkId a, LinkId b) { return r.link_busy[a].count > r.link_busy[b].count; });
  fmt::print("bottleneck   ");
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i) {
    fmt::print("{}{} busy {:.1f} %", i == 0 ? "" : ", ", topology.describe_link(order[i]),
               100 * r.utilisation(order[i]));
  }
  fmt::print("; {} of {} links used\n", r.links_used, order.size());
}

Result<int> run(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const CollectiveKind kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(const Topology topology, flags.topology.load());
  HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(kind, topology.rank_count()));
  PlanningOptions options;
  HOCKET_TRY_ASSIGN(options.simulate, flags.simulation.options());
  HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(topology, what, options));
  HOCKET_TRY_ASSIGN(const std::vector<SizeChoice> choices, choices_by_size(topology, flags, kind));
  if (flags.json) {
    nlohmann::ordered_json out = document("explain");
    out["chosen"] = planning.candidates[planning.chosen].algorithm;
    out["reason"] = planning.reason;
    out["bound"] = {{"time_s", planning.bound.time.value},
                    {"rule", planning.bound.rule},
                    {"limit", planning.bound.limit},
                    {"latency_s", planning.bound.latency.value},
                    {"bandwidth_s", planning.bound.bandwidth.value}};
    for (const SizeChoice& c : choices) {
      out["by_size"].push_back({{"size_bytes", c.size.count},
                                {"algorithm", c.algorithm},
                                {"time_s", c.time_s},
                                {"fraction_of_bound", c.fraction_of_bound}});
    }
    print_json(out);
    return 0;
  }
  fmt::print("choice       {}\n", planning.reason);
  fmt::print("rule         least simulated time among the proved candidates ({} model)\n", flags.simulation.model);
  fmt::print("bound        {}: latency {}, bandwidth {} ({})\n", format_seconds(planning.bound.time),
             format_seconds(planning.bound.latency), format_seconds(planning.bound.bandwidth),
             certificate_text(planning.bound.bandwidth_rule, planning.bound.bandwidth_limit));
  print_bottleneck(topology, planning);
  fmt::print("by size:\n");
  Table table({"size", "choice", "time", "% of bound"});
  for (const SizeChoice& c : choices) {
    table.add({format_bytes(c.size), c.algorithm, format_seconds({c.time_s}),
               fmt::format("{:.1f}", 100 * c.fraction_of_bound)});
  }
  fmt::print("{}", table.text());
  return 0;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("collective", flags->collective, "all_reduce reduce_scatter all_gather broadcast reduce all_to_all")
      ->required();
  flags->topology.declare(app, false, true);
  flags->amount.declare(app);
  flags->simulation.declare(app);
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_explain{
    .name = "explain",
    .summary = "why a plan is chosen, and at which sizes another would be",
    .example = "hocket explain all_reduce --topo torus:4x4 --size 64MiB",
    .declare = declare,
};

}  // namespace hocket

#include "symmetric_view.h"

#include <fmt/format.h>

#include "bounds/statement.h"
#include "flags.h"
#include "planner/planner.h"
#include "report/table.h"

namespace hocket {
namespace {

nlohmann::ordered_json document_of(const Topology& topology, const BoundCollective& what, const SymmetricPlan& plan,
                                   const Bound& bound) {
  const Picos time = plan.simulated.time;
  nlohmann::ordered_json out = document("plan");
  out["collective"] = std::string(name_of(what.collective.kind));
  out["topology"] = topology.name();
  out["ranks"] = what.collective.ranks;
  out["size_bytes"] = what.bytes().count;
  out["bound"] = {{"time_s", bound.time.value}, {"rule", bound.rule}, {"limit", bound.limit}};
  out["symmetric"] = {{"algorithm", std::string(plan.algorithm)},
                      {"time_s", to_seconds(time).value},
                      {"algbw_Bps", algbw_Bps(what, time)},
                      {"busbw_Bps", busbw_Bps(what, time)},
                      {"fraction_of_bound", time.count > 0 ? bound.time.value / to_seconds(time).value : 1.0},
                      {"steps", plan.steps},
                      {"proved", true},
                      {"segment_bytes", plan.segment.count},
                      {"padded_bytes", plan.padded},
                      {"link_bytes", plan.simulated.class_bytes},
                      {"synthesis_s", plan.synthesis_s},
                      {"proof_s", plan.proof_s},
                      {"simulation_s", plan.simulation_s},
                      {"events", plan.simulated.events}};
  out["notes"] = topology.notes();
  return out;
}

Result<SymmetricPlan> plan_as_asked(const Topology& topology, const BoundCollective& what, const SymmetricAsk& ask) {
  if (ask.algorithm == "auto" || ask.algorithm == "multitree") return plan_symmetric(topology, what, ask.segment);
  if (ask.algorithm != "ring" && ask.algorithm != "dimension_rings") {
    return fail(Code::kUnsupported, "--symmetric plans multitree, ring or dimension_rings, not '{}'", ask.algorithm);
  }
  if (ask.segment.count > 0) return fail(Code::kUnsupported, "--symmetric has rings in whole messages: no --segment");
  HOCKET_TRY_ASSIGN(SymmetricPlan plan, plan_symmetric_rings(topology, what));
  if (plan.algorithm == ask.algorithm) return plan;
  return fail(Code::kUnsupported, "--symmetric: on {} the rings are those of '{}', not of '{}'", topology.name(),
              plan.algorithm, ask.algorithm);
}

}  // namespace

Result<int> show_symmetric(const Topology& topology, const BoundCollective& what, const SymmetricAsk& ask, bool json) {
  HOCKET_TRY_ASSIGN(const SymmetricPlan plan, plan_as_asked(topology, what, ask));
  const Bound bound = lower_bound(topology, what);
  if (json) {
    print_json(document_of(topology, what, plan, bound));
    return 0;
  }
  const Picos time = plan.simulated.time;
  fmt::print("{} of {} over {} ranks on {}\n", name_of(what.collective.kind), format_bytes(what.bytes()),
             what.collective.ranks, topology.name());
  for (const std::string& note : topology.notes()) fmt::print("note: {}\n", note);
  fmt::print("lower bound {} ({})\n\n", format_seconds(bound.time), certificate_text(bound.rule, bound.limit));
  Table table({"algorithm", "time", "algbw GB/s", "busbw GB/s", "% of bound", "steps", "segment", "proved"});
  table.add({std::string(plan.algorithm), format_seconds(to_seconds(time)),
             fmt::format("{:.2f}", algbw_Bps(what, time) / 1e9), fmt::format("{:.2f}", busbw_Bps(what, time) / 1e9),
             time.count > 0 ? fmt::format("{:.1f}", 100 * bound.time.value / to_seconds(time).value) : std::string("-"),
             fmt::format("{}", plan.steps), format_bytes(plan.segment), "by symmetry"});
  fmt::print("{}\nplanned for one vertex, which stands for all {}: every rank has its tree{}, moved to where it is\n",
             table.text(), what.collective.ranks, plan.rings.up.empty() ? "" : "s");
  if (plan.padded > 0) fmt::print("{} were added so that all shares are equal\n", format_bytes({plan.padded}));
  return 0;
}

}  // namespace hocket

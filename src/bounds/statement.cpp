#include "bounds/statement.h"

namespace hocket {
namespace {

/// Sums may mix elements linearly; other operators are covered one element at a time.
std::string_view covered(ReduceOp op) {
  const bool sums = op == ReduceOp::kSum || op == ReduceOp::kAvg;
  return sums ? "linear or one-element-per-message" : "one-element-per-message";
}

std::string on_all_reduce(const Bound& bound, const Topology& topology, const BoundCollective& what) {
  const bool direct = topology.rank_count() == topology.vertices().size();
  const std::string_view schedules = covered(what.op);
  if (bound.bandwidth_rule == "partition" && direct && topology.symmetric() && bound.exact) {
    return fmt::format(
        "no {} all-reduce schedule, fixed in advance, is faster on these links of equal speed both ways (graph "
        "strength); link bytes only; trees reach it as pieces get small",
        schedules);
  }
  if (bound.bandwidth_rule == "cut") {
    return "what one side holds must cross to the other; holds for any coding; not known to be reachable";
  }
  return fmt::format("no {} all-reduce schedule, fixed in advance, is faster ({}); not known to be reachable",
                     schedules,
                     bound.bandwidth_rule == "partition" ? "directed capacities between the parts" : "link lengths");
}

}  // namespace

std::string certificate_text(std::string_view rule, std::string_view limit) {
  if (limit.starts_with(rule)) return std::string(limit);
  return fmt::format("{}: {}", rule, limit);
}

std::string statement_of(const Bound& bound, const Topology& topology, const BoundCollective& what) {
  if (bound.bandwidth_rule == "none") return {};
  switch (what.collective.kind) {
    case CollectiveKind::kAllReduce:
      return on_all_reduce(bound, topology, what);
    case CollectiveKind::kAllToAll:
      return "what the pairs exchange crosses these links; switches forward only; not known to be reachable";
    default:
      return fmt::format(
          "what must cross this cut takes this long with any coding; {}",
          bound.exact ? "trees reach it as pieces get small" : "not every cut of this network was tried");
  }
}

std::string statement_of(const SeparatePhases& phases) {
  if (phases.time.value <= 0) return {};
  return fmt::format("separate reduce-scatter then all-gather phases with equal shards need at least {} ({})",
                     format_seconds(phases.time), phases.limit);
}

}  // namespace hocket

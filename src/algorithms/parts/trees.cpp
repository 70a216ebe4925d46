#include "algorithms/parts/trees.h"

#include <algorithm>

#include "algorithms/parts/transfers.h"

namespace hocket {
namespace {

/// Edge indices by step, ties in order of addition.
std::vector<std::uint32_t> by_step(const Trees& trees) {
  std::vector<std::uint32_t> begin(trees.steps + 1, 0);
  for (const TreeEdge& edge : trees.edges) ++begin[edge.step + 1];
  for (std::uint32_t s = 0; s < trees.steps; ++s) begin[s + 1] += begin[s];
  std::vector<std::uint32_t> order(trees.edges.size());
  for (std::uint32_t i = 0; i < trees.edges.size(); ++i) order[begin[trees.edges[i].step]++] = i;
  return order;
}

OpOptions options_of(const Trees& trees, const TreeEdge& edge, const TreePlan& plan, ScheduleBuilder& builder) {
  OpOptions options;
  options.channel = static_cast<std::uint16_t>(edge.tree % plan.channels);
  if (edge.link_count > 0) {
    options.route = builder.add_route(std::span(trees.links).subspan(edge.first_link, edge.link_count));
  }
  return options;
}

}  // namespace

void Trees::add(std::uint32_t tree, std::uint32_t parent, std::uint32_t child, std::uint32_t step) {
  edges.push_back({.tree = tree, .parent = parent, .child = child, .step = step});
  count = std::max(count, tree + 1);
  steps = std::max(steps, step + 1);
}

Result<Schedule> schedule_trees(const Collective& collective, const TreePlan& plan, std::string_view algorithm) {
  Transfers transfers(collective, plan.down.count * plan.pieces_per_tree, algorithm);
  const auto run_of = [&](const TreeEdge& edge) { return Run{edge.tree * plan.pieces_per_tree, plan.pieces_per_tree}; };
  if (plan.topology != nullptr) transfers.builder().set_topology(plan.topology->fingerprint());
  std::uint32_t first_step = 0;
  if (reduces(collective.kind)) {
    std::vector<std::uint32_t> order = by_step(plan.up);
    std::reverse(order.begin(), order.end());
    for (const std::uint32_t i : order) {
      const TreeEdge& edge = plan.up.edges[i];
      OpOptions options = options_of(plan.up, edge, plan, transfers.builder());
      options.step = plan.up.steps - 1 - edge.step;
      transfers.reduce(edge.child, edge.parent, run_of(edge), options);
    }
    first_step = plan.up.steps;
  }
  if (collective.kind == CollectiveKind::kReduce || collective.kind == CollectiveKind::kReduceScatter) {
    return std::move(transfers).finish();
  }
  for (const std::uint32_t i : by_step(plan.down)) {
    const TreeEdge& edge = plan.down.edges[i];
    OpOptions options = options_of(plan.down, edge, plan, transfers.builder());
    options.step = first_step + edge.step;
    transfers.copy(edge.parent, edge.child, run_of(edge), options);
  }
  return std::move(transfers).finish();
}

std::string refuse_all_to_all(const Collective& collective) {
  return collective.kind == CollectiveKind::kAllToAll ? "it does not do all_to_all" : "";
}

}  // namespace hocket

#include "bounds/cuts.h"

#include <algorithm>

#include "bounds/max_flow.h"

namespace hocket {
namespace {

constexpr double kSlack = 1e-9;

/// Ranks to use as sinks: all, one when all look alike, or an even choice when the work would be too large.
std::vector<VertexId> choose_sinks(const FlowNetwork& network, bool one_will_do) {
  if (one_will_do) return {network.ranks.front()};
  const std::uint64_t affordable =
      std::max<std::uint64_t>(16, kFlowWorkMax / std::max<std::size_t>(1, network.arcs.size()));
  const std::uint64_t count = std::min<std::uint64_t>(affordable, network.ranks.size());
  std::vector<VertexId> sinks;
  for (std::uint64_t i = 0; i < count; ++i) sinks.push_back(network.ranks[i * network.ranks.size() / count]);
  return sinks;
}

std::vector<bool> only(const FlowNetwork& network, VertexId v) {
  std::vector<bool> side(network.vertex_count, false);
  side[v] = true;
  return side;
}

double gather_ratio(const Cut& cut) { return static_cast<double>(cut.ranks) / cut.capacity; }

/// Best of the cuts around one rank: everything but that rank, and that rank alone.
Cut best_single_gather_cut(const FlowNetwork& network) {
  std::vector<double> in(network.vertex_count, 0), out(network.vertex_count, 0);
  for (const FlowNetwork::Arc& arc : network.arcs) {
    out[arc.from] += arc.capacity;
    in[arc.to] += arc.capacity;
  }
  const double others = static_cast<double>(network.ranks.size() - 1);
  double best = 0;
  VertexId at = network.ranks.front();
  bool alone = false;
  for (const VertexId v : network.ranks) {
    if (others / in[v] > best) best = others / in[v], at = v, alone = false;
    if (1 / out[v] > best) best = 1 / out[v], at = v, alone = true;
  }
  std::vector<bool> side = only(network, at);
  if (!alone) side.flip();
  return measure_cut(network, std::move(side));
}

}  // namespace

Cut measure_cut(const FlowNetwork& network, std::vector<bool> side) {
  Cut cut;
  for (const VertexId v : network.ranks) cut.ranks += side[v] ? 1 : 0;
  for (const FlowNetwork::Arc& arc : network.arcs) {
    if (!side[arc.from] || side[arc.to]) continue;
    cut.capacity += arc.capacity;
    cut.links += arc.links;
  }
  cut.side = std::move(side);
  return cut;
}

Cut worst_gather_cut(const FlowNetwork& network) {
  if (network.ranks.size() < 2) return {};
  Cut worst = best_single_gather_cut(network);
  // Source to every rank with capacity 1, links scaled by the time per block: a flow of all other ranks' blocks to the
  // sink exists unless some side has more ranks than its links can carry (Newton's step takes that side's own ratio).
  MaxFlow flow(network.vertex_count + 1);
  const std::uint32_t source = network.vertex_count;
  for (const FlowNetwork::Arc& arc : network.arcs) flow.add_arc(arc.from, arc.to, 0);
  for (const VertexId v : network.ranks) flow.add_arc(source, v, 1);
  const auto scale = [&](double time) {
    for (std::uint32_t a = 0; a < network.arcs.size(); ++a) flow.set_capacity(a, network.arcs[a].capacity * time);
  };
  scale(gather_ratio(worst));
  const double wanted = static_cast<double>(network.ranks.size());
  for (const VertexId sink : choose_sinks(network, network.transitive)) {
    while (flow.run(source, sink, wanted * (1 - kSlack)) < wanted * (1 - kSlack)) {
      std::vector<bool> side(network.vertex_count);
      for (VertexId v = 0; v < network.vertex_count; ++v) side[v] = flow.on_source_side(v);
      Cut cut = measure_cut(network, std::move(side));
      if (cut.ranks == 0 || gather_ratio(cut) <= gather_ratio(worst) * (1 + kSlack)) break;
      worst = std::move(cut);
      scale(gather_ratio(worst));
    }
  }
  return worst;
}

Cut smallest_root_cut(const FlowNetwork& network, VertexId root) {
  if (network.ranks.size() < 2) return {};
  Cut smallest = measure_cut(network, only(network, root));
  MaxFlow flow(network.vertex_count);
  for (const FlowNetwork::Arc& arc : network.arcs) flow.add_arc(arc.from, arc.to, arc.capacity);
  for (const VertexId sink : choose_sinks(network, false)) {
    const double enough = smallest.capacity * (1 - kSlack);
    if (sink == root || flow.run(root, sink, enough) >= enough) continue;
    std::vector<bool> side(network.vertex_count);
    for (VertexId v = 0; v < network.vertex_count; ++v) side[v] = flow.on_source_side(v);
    if (Cut cut = measure_cut(network, std::move(side)); cut.capacity < smallest.capacity) smallest = std::move(cut);
  }
  return smallest;
}

Cut smallest_cut(const FlowNetwork& network) {
  if (network.ranks.size() < 2) return {};
  Cut out = smallest_root_cut(network, network.ranks.front());
  if (network.symmetric) return out;
  Cut in = smallest_root_cut(network.reversed(), network.ranks.front());
  if (out.capacity <= in.capacity) return out;
  in.side.flip();
  return measure_cut(network, std::move(in.side));
}

}  // namespace hocket

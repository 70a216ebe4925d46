#include "planner/symmetric_plan.h"

#include <algorithm>
#include <ctime>
#include <span>

namespace hocket {
namespace {

constexpr std::int64_t kFinestSegment = 4096;
constexpr double kEventsMax = 4e6;  // of one simulation of the search

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<void> check(const BoundCollective& what) {
  const Collective& collective = what.collective;
  const bool served = collective.kind == CollectiveKind::kAllReduce || collective.kind == CollectiveKind::kAllGather ||
                      collective.kind == CollectiveKind::kReduceScatter;
  if (!served)
    return fail(Code::kUnsupported, "symmetric plans are for all_reduce, reduce_scatter and all_gather, not {}",
                name_of(collective.kind));
  return {};
}

Result<void> check_shares(const Topology& topology, const BoundCollective& what) {
  if (what.count % topology.rank_count() != 0)
    return fail(Code::kUnsupported, "symmetric plans need equal shares: {} elements are no multiple of {} ranks",
                what.count, topology.rank_count());
  return {};
}

/// Bytes of the segments of one rank's share.
std::vector<std::int64_t> cut_share(const BoundCollective& what, Bytes segment) {
  const std::int64_t elements = what.count / what.collective.ranks;
  const std::int64_t size = size_of(what.type);
  const std::int64_t parts = std::max<std::int64_t>((elements * size + segment.count - 1) / segment.count, 1);
  std::vector<std::int64_t> bytes;
  const auto begin = [&](std::int64_t s) {
    return static_cast<std::int64_t>(static_cast<__int128>(elements) * s / parts) * size;
  };
  for (std::int64_t s = 0; s < parts; ++s) bytes.push_back(begin(s + 1) - begin(s));
  return bytes;
}

std::vector<FoldedClass> classes_of(const Topology& topology, const Translations& t) {
  std::vector<FoldedClass> classes;
  classes.reserve(t.classes());
  for (std::uint32_t c = 0; c < t.classes(); ++c) {
    const Link& link = topology.link(t.link(0, c));
    classes.push_back({link.bandwidth, link.latency});
  }
  return classes;
}

/// What a vertex has, seen from the root: the ops whose messages brought it.
using Arrivals = std::vector<std::vector<std::uint32_t>>;

/// Adds the message that consists of these edges. It waits for what its senders have; `up`: edges lead to parents.
void add_message(FoldedProgram& program, std::span<const SymmetricTree::Edge> edges, std::uint32_t cls, bool up,
                 Arrivals& arrivals) {
  const auto op = static_cast<std::uint32_t>(program.ops.size());
  FoldedOp message{.cls = cls, .after = {}, .shares = static_cast<std::uint32_t>(edges.size())};
  for (const SymmetricTree::Edge& edge : edges) {
    const std::vector<std::uint32_t>& before = arrivals[up ? edge.child : edge.parent];
    message.after.insert(message.after.end(), before.begin(), before.end());
  }
  std::sort(message.after.begin(), message.after.end());
  message.after.erase(std::unique(message.after.begin(), message.after.end()), message.after.end());
  program.ops.push_back(std::move(message));
  for (const SymmetricTree::Edge& edge : edges) arrivals[up ? edge.parent : edge.child].push_back(op);
}

/// The edges of one step, a run of `edges`.
std::span<const SymmetricTree::Edge> edges_of_step(const SymmetricTree& tree, std::uint32_t step) {
  const auto before = [](const SymmetricTree::Edge& edge, std::uint32_t s) { return edge.step < s; };
  const auto begin = std::lower_bound(tree.edges.begin(), tree.edges.end(), step, before);
  return {begin, std::lower_bound(begin, tree.edges.end(), step + 1, before)};
}

}  // namespace

FoldedProgram fold(const Topology& topology, const Translations& t, const SymmetricTree& tree,
                   const BoundCollective& what, Bytes segment) {
  FoldedProgram program{.classes = classes_of(topology, t), .ops = {}, .segment_bytes = cut_share(what, segment)};
  std::vector<std::vector<std::uint32_t>> climbing(t.vertices());  // ops that arrive at a vertex on their way up
  if (reduces(what.collective.kind)) {
    // The edges in reverse, as schedule_trees has them.
    for (auto edge = tree.edges.rbegin(); edge != tree.edges.rend(); ++edge) {
      climbing[edge->parent].push_back(static_cast<std::uint32_t>(program.ops.size()));
      program.ops.push_back({t.twin(edge->cls), climbing[edge->child], 1});
    }
  }
  if (what.collective.kind == CollectiveKind::kReduceScatter) return program;
  std::vector<std::vector<std::uint32_t>> source = climbing;  // what a vertex waits for before it spreads
  for (std::uint32_t v = 1; v < t.vertices(); ++v) source[v].clear();
  for (const SymmetricTree::Edge& edge : tree.edges) {
    source[edge.child] = {static_cast<std::uint32_t>(program.ops.size())};
    program.ops.push_back({edge.cls, source[edge.parent], 1});
  }
  return program;
}

FoldedProgram fold(const Topology& topology, const Translations& t, const SymmetricRings& rings, CollectiveKind kind,
                   Bytes share) {
  FoldedProgram program{.classes = classes_of(topology, t), .ops = {}, .segment_bytes = {share.count}};
  std::vector<Arrivals> arrivals(rings.up.size(), Arrivals(t.vertices()));
  for (std::uint32_t step = 0; reduces(kind) && step < rings.steps; ++step) {
    for (std::size_t part = 0; part < rings.up.size(); ++part) {
      const auto edges = edges_of_step(rings.up[part], rings.steps - 1 - step);
      if (!edges.empty()) add_message(program, edges, t.twin(edges.front().cls), true, arrivals[part]);
    }
  }
  if (kind == CollectiveKind::kReduceScatter) return program;
  for (Arrivals& one : arrivals) std::fill(one.begin() + 1, one.end(), std::vector<std::uint32_t>());
  for (std::uint32_t step = 0; step < rings.steps; ++step) {
    for (std::size_t part = 0; part < rings.down.size(); ++part) {
      const auto edges = edges_of_step(rings.down[part], step);
      if (!edges.empty()) add_message(program, edges, edges.front().cls, false, arrivals[part]);
    }
  }
  return program;
}

Result<SymmetricPlan> plan_symmetric_rings(const Topology& topology, const BoundCollective& what) {
  HOCKET_TRY(check(what));
  const double start = processor_seconds();
  const auto translations = Translations::of(topology);
  if (!translations)
    return fail(Code::kUnsupported, "topology '{}' does not look the same from every vertex", topology.name());
  HOCKET_TRY_ASSIGN(SymmetricRings rings, symmetric_rings(*translations));
  // Parts of blocks are not next to one another: dimension_rings then sends many small messages.
  if (rings.up.size() > 1 && what.collective.kind != CollectiveKind::kAllReduce)
    return fail(Code::kUnsupported, "symmetric rings on grids are for all_reduce, not {}",
                name_of(what.collective.kind));
  const double grown = processor_seconds();
  for (const std::vector<SymmetricTree>* trees : {&rings.up, &rings.down}) {
    for (const SymmetricTree& tree : *trees) HOCKET_TRY(prove_symmetric(topology, *translations, tree, false));
  }
  const double proved = processor_seconds();
  const auto parts = static_cast<std::int64_t>(rings.up.size());
  const std::int64_t shares = std::max<std::int64_t>(parts, 1) * topology.rank_count();
  const Bytes share{(what.count + shares - 1) / shares * size_of(what.type)};
  const FoldedProgram program = fold(topology, *translations, rings, what.collective.kind, share);
  HOCKET_TRY_ASSIGN(FoldedResult result, simulate_folded(program));
  SymmetricPlan plan{.algorithm = parts > 1 ? "dimension_rings" : "ring",
                     .tree = {},
                     .rings = std::move(rings),
                     .padded = share.count * shares - what.bytes().count,
                     .simulated = std::move(result),
                     .segment = {}};
  plan.steps = plan.rings.steps * (what.collective.kind == CollectiveKind::kAllReduce ? 2 : 1);
  for (const FoldedOp& op : program.ops) plan.segment = std::max(plan.segment, Bytes{share.count * op.shares});
  plan.synthesis_s = grown - start;
  plan.proof_s = proved - grown;
  plan.simulation_s = processor_seconds() - proved;
  return plan;
}

Result<SymmetricPlan> plan_symmetric(const Topology& topology, const BoundCollective& what, Bytes segment) {
  HOCKET_TRY(check(what));
  HOCKET_TRY(check_shares(topology, what));
  const double start = processor_seconds();
  const auto translations = Translations::of(topology);
  if (!translations)
    return fail(Code::kUnsupported, "topology '{}' does not look the same from every vertex", topology.name());
  SymmetricPlan plan{.algorithm = "multitree",
                     .tree = grow_symmetric_tree(*translations),
                     .rings = {},
                     .simulated = {},
                     .segment = {}};
  const double grown = processor_seconds();
  bool one_rate = true;
  for (std::uint32_t c = 0; c < translations->classes(); ++c) {
    one_rate = one_rate && translations->bandwidth(c) == translations->bandwidth(0);
  }
  HOCKET_TRY(prove_symmetric(topology, *translations, plan.tree, one_rate));
  const double proved = processor_seconds();
  plan.synthesis_s = grown - start;
  plan.proof_s = proved - grown;
  plan.steps = plan.tree.steps * (what.collective.kind == CollectiveKind::kAllReduce ? 2 : 1);
  const Bytes share{std::max<std::int64_t>(what.bytes().count / topology.rank_count(), 1)};
  for (Bytes size = segment.count > 0 ? segment : share;; size.count /= 2) {
    const FoldedProgram program = fold(topology, *translations, plan.tree, what, size);
    HOCKET_TRY_ASSIGN(FoldedResult result, simulate_folded(program));
    const bool better = plan.segment.count == 0 || result.time.count < plan.simulated.time.count;
    const double events = 4.0 * static_cast<double>(program.ops.size() * program.segment_bytes.size());
    if (better) {
      plan.simulated = std::move(result);
      plan.segment = size;
    }
    if (!better || segment.count > 0 || size.count / 2 < kFinestSegment || events > kEventsMax) break;
  }
  plan.simulation_s = processor_seconds() - proved;
  return plan;
}

}  // namespace hocket

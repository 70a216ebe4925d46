#include "planner/symmetric_plan.h"

#include <algorithm>
#include <ctime>

namespace hocket {
namespace {

constexpr std::int64_t kFinestSegment = 4096;
constexpr double kEventsMax = 4e6;  // of one simulation of the search

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<void> check(const Topology& topology, const BoundCollective& what) {
  const Collective& collective = what.collective;
  const bool served = collective.kind == CollectiveKind::kAllReduce || collective.kind == CollectiveKind::kAllGather ||
                      collective.kind == CollectiveKind::kReduceScatter;
  if (!served)
    return fail(Code::kUnsupported, "symmetric plans are for all_reduce, reduce_scatter and all_gather, not {}",
                name_of(collective.kind));
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

}  // namespace

FoldedProgram fold(const Topology& topology, const Translations& t, const SymmetricTree& tree,
                   const BoundCollective& what, Bytes segment) {
  FoldedProgram program{.classes = {}, .ops = {}, .segment_bytes = cut_share(what, segment)};
  for (std::uint32_t c = 0; c < t.classes(); ++c) {
    const Link& link = topology.link(t.link(0, c));
    program.classes.push_back({link.bandwidth, link.latency});
  }
  std::vector<std::vector<std::uint32_t>> climbing(t.vertices());  // ops that arrive at a vertex on their way up
  if (reduces(what.collective.kind)) {
    // The edges in reverse, as schedule_trees has them.
    for (auto edge = tree.edges.rbegin(); edge != tree.edges.rend(); ++edge) {
      climbing[edge->parent].push_back(static_cast<std::uint32_t>(program.ops.size()));
      program.ops.push_back({t.twin(edge->cls), climbing[edge->child]});
    }
  }
  if (what.collective.kind == CollectiveKind::kReduceScatter) return program;
  std::vector<std::vector<std::uint32_t>> source = climbing;  // what a vertex waits for before it spreads
  for (std::uint32_t v = 1; v < t.vertices(); ++v) source[v].clear();
  for (const SymmetricTree::Edge& edge : tree.edges) {
    source[edge.child] = {static_cast<std::uint32_t>(program.ops.size())};
    program.ops.push_back({edge.cls, source[edge.parent]});
  }
  return program;
}

Result<SymmetricPlan> plan_symmetric(const Topology& topology, const BoundCollective& what, Bytes segment) {
  HOCKET_TRY(check(topology, what));
  const double start = processor_seconds();
  const auto translations = Translations::of(topology);
  if (!translations)
    return fail(Code::kUnsupported, "topology '{}' does not look the same from every vertex", topology.name());
  SymmetricPlan plan{.tree = grow_symmetric_tree(*translations), .simulated = {}, .segment = {}};
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

#include "bounds/bounds.h"

#include <algorithm>
#include <cmath>

#include "bounds/cuts.h"
#include "bounds/lengths.h"
#include "bounds/network.h"
#include "bounds/strength.h"
#include "topology/route.h"

namespace hocket {
namespace {

constexpr std::uint64_t kLatencyWorkMax = std::uint64_t{1} << 26;
constexpr std::size_t kNamesMax = 16;

/// A bandwidth bound while the best is looked for.
struct Candidate {
  double seconds = 0;
  std::string rule = "none";
  std::string limit;
  std::vector<std::vector<std::uint32_t>> parts;
  std::vector<std::uint32_t> part_of;
  std::vector<PairLength> lengths;
  bool exact = true;
};

/// Whether cuts are searched with every rank as sink.
bool searches_every_sink(const FlowNetwork& network) {
  return network.transitive || std::uint64_t{network.ranks.size()} * network.arcs.size() <= kFlowWorkMax;
}

void keep_larger(Candidate& best, Candidate other) {
  if (other.seconds > best.seconds * (1 + 1e-12)) best = std::move(other);
}

std::string list_ranks(const std::vector<std::uint32_t>& ranks) {
  const std::size_t shown = std::min(ranks.size(), kNamesMax);
  const std::string names =
      fmt::format("{}", fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  return shown == ranks.size() ? fmt::format("{{{}}}", names) : fmt::format("{{{} ... {} ranks}}", names, ranks.size());
}

Candidate from_cut(const FlowNetwork& network, const Cut& cut, double seconds, bool reversed) {
  Candidate result{.seconds = seconds,
                   .rule = "cut",
                   .limit = {},
                   .parts = {{}, {}},
                   .part_of = {},
                   .lengths = {},
                   .exact = searches_every_sink(network)};
  // A reversed network's side is where data end.
  for (VertexId v = 0; v < network.vertex_count; ++v) result.part_of.push_back(cut.side[v] == reversed ? 1 : 0);
  for (std::uint32_t r = 0; r < network.ranks.size(); ++r) {
    result.parts[cut.side[network.ranks[r]] ? 0 : 1].push_back(r);
  }
  result.limit = fmt::format("cut {} {} {}: {} links, {}", list_ranks(result.parts[0]), reversed ? "from" : "to",
                             list_ranks(result.parts[1]), cut.links, format_bandwidth({cut.capacity}));
  return result;
}

Candidate gather_bound(const FlowNetwork& network, double bytes, bool reversed) {
  const Cut cut = worst_gather_cut(network);
  const double seconds = bytes / static_cast<double>(network.ranks.size()) * cut.ranks / cut.capacity;
  return from_cut(network, cut, seconds, reversed);
}

Candidate rooted_bound(const FlowNetwork& network, std::uint32_t root, double bytes, bool reversed) {
  const Cut cut = smallest_root_cut(network, network.ranks[root]);
  return from_cut(network, cut, bytes / cut.capacity, reversed);
}

Candidate partition_bound(const FlowNetwork& network, double bytes) {
  const Partition partition = worst_partition(network);
  Candidate result{.seconds = bytes * partition.time_per_byte(),
                   .rule = "partition",
                   .limit = {},
                   .parts = {},
                   .part_of = partition.part_of,
                   .lengths = {},
                   .exact = partition.exact};
  result.parts.resize(partition.parts);
  for (std::uint32_t r = 0; r < network.ranks.size(); ++r) {
    result.parts[partition.part_of[network.ranks[r]]].push_back(r);
  }
  const std::string shape = partition.parts == network.ranks.size() ? fmt::format("{} single npus", partition.parts)
                                                                    : fmt::format("{} parts", partition.parts);
  result.limit = fmt::format("partition into {}: {} links between them, {} both ways", shape, partition.links,
                             format_bandwidth({partition.capacity}));
  return result;
}

Candidate from_lengths(const FlowNetwork& network, const Lengths& lengths, double bytes, std::string_view rule) {
  Candidate result{.seconds = bytes * lengths.time_per_byte,
                   .rule = std::string(rule),
                   .limit = lengths.description,
                   .parts = {},
                   .part_of = {},
                   .lengths = {},
                   .exact = false};
  for (std::size_t p = 0; p < lengths.length.size(); ++p) {
    if (lengths.length[p] > 0) result.lengths.push_back({network.pairs[p].a, network.pairs[p].b, lengths.length[p]});
  }
  return result;
}

Candidate all_reduce_bound(const FlowNetwork& network, double bytes) {
  Candidate best;
  if (network.direct) {
    keep_larger(best, partition_bound(network, bytes));
    if (network.symmetric) return best;  // holds every cut already
  } else {
    keep_larger(best, from_lengths(network, best_tree_lengths(network), bytes, "link lengths"));
  }
  const Cut cut = smallest_cut(network);
  keep_larger(best, from_cut(network, cut, bytes / cut.capacity, false));
  return best;
}

Candidate all_to_all_bound(const FlowNetwork& network, double bytes) {
  Candidate best;
  const double ranks = static_cast<double>(network.ranks.size());
  const auto keep_cut = [&](const Cut& cut) {
    const double pairs = static_cast<double>(cut.ranks) * (ranks - cut.ranks);
    if (pairs > 0) keep_larger(best, from_cut(network, cut, bytes / ranks * pairs / cut.capacity, false));
  };
  keep_cut(worst_gather_cut(network));
  const FlowNetwork backward = network.reversed();
  for (Cut cut : {worst_gather_cut(backward), smallest_cut(backward)}) {
    cut.side.flip();
    keep_cut(measure_cut(network, std::move(cut.side)));
  }
  // Halves by rank order: the bisection of grids, boxes and trees.
  std::vector<bool> side(network.vertex_count, false);
  for (std::size_t r = 0; r < network.ranks.size() / 2; ++r) side[network.ranks[r]] = true;
  if (network.direct) keep_cut(measure_cut(network, side));
  keep_larger(best, from_lengths(network, best_distance_lengths(network), bytes, "distances"));
  return best;
}

Candidate bandwidth_bound(const FlowNetwork& network, const BoundCollective& what) {
  const double bytes = static_cast<double>(what.bytes().count);
  switch (what.collective.kind) {
    case CollectiveKind::kAllReduce:
      return all_reduce_bound(network, bytes);
    case CollectiveKind::kAllGather:
      return gather_bound(network, bytes, false);
    case CollectiveKind::kReduceScatter:
      return gather_bound(network.reversed(), bytes, true);
    case CollectiveKind::kBroadcast:
      return rooted_bound(network, what.collective.root, bytes, false);
    case CollectiveKind::kReduce:
      return rooted_bound(network.reversed(), what.collective.root, bytes, true);
    case CollectiveKind::kAllToAll:
      return all_to_all_bound(network, bytes);
  }
  return {};
}

struct Farthest {
  double seconds = 0;
  std::uint32_t from = 0, to = 0;
};

void look_from(const Topology& topology, std::uint32_t rank, bool forward, Farthest& farthest) {
  const std::vector<double> distances = latency_distances(topology, topology.vertex_of(rank), forward);
  for (std::uint32_t other = 0; other < topology.rank_count(); ++other) {
    const double seconds = distances[topology.vertex_of(other)];
    if (!std::isfinite(seconds) || seconds <= farthest.seconds) continue;
    farthest = forward ? Farthest{seconds, rank, other} : Farthest{seconds, other, rank};
  }
}

/// Largest least latency between ranks that must hear of each other. Large networks: from an even choice of ranks.
Farthest latency_bound(const Topology& topology, const FlowNetwork& network, const Collective& collective) {
  Farthest farthest;
  if (is_rooted(collective.kind)) {
    look_from(topology, collective.root, collective.kind == CollectiveKind::kBroadcast, farthest);
    return farthest;
  }
  const std::uint64_t ranks = topology.rank_count();
  const std::uint64_t affordable =
      std::max<std::uint64_t>(4, kLatencyWorkMax / std::max<std::size_t>(1, topology.links().size()));
  const std::uint64_t starts = network.transitive ? 1 : std::min(ranks, affordable);
  for (std::uint64_t i = 0; i < starts; ++i)
    look_from(topology, static_cast<std::uint32_t>(i * ranks / starts), true, farthest);
  return farthest;
}

}  // namespace

Bound lower_bound(const Topology& topology, const BoundCollective& what) {
  Bound bound;
  bound.rule = bound.bandwidth_rule = "none";
  const std::uint32_t ranks = topology.rank_count();
  if (what.collective.ranks != ranks || what.collective.root >= ranks) {
    bound.limit = bound.bandwidth_limit = fmt::format("collective of {} ranks, root {}, on a network of {}",
                                                      what.collective.ranks, what.collective.root, ranks);
    return bound;
  }
  if (ranks < 2 || what.count <= 0) {
    bound.limit = bound.bandwidth_limit = ranks < 2 ? "one rank needs no network" : "nothing to send";
    return bound;
  }
  const FlowNetwork network(topology);
  const Farthest farthest = latency_bound(topology, network, what.collective);
  Candidate bandwidth = bandwidth_bound(network, what);
  bound.latency = {farthest.seconds};
  bound.bandwidth = {bandwidth.seconds};
  bound.bandwidth_rule = bandwidth.rule;
  bound.bandwidth_limit = bandwidth.limit;
  bound.parts = std::move(bandwidth.parts);
  bound.part_of = std::move(bandwidth.part_of);
  bound.exact = bandwidth.exact;
  bound.lengths = std::move(bandwidth.lengths);
  bound.time = std::max(bound.latency, bound.bandwidth);
  if (bound.latency > bound.bandwidth) {
    bound.rule = "latency";
    bound.limit = fmt::format("latency from rank {} to rank {}", farthest.from, farthest.to);
  } else {
    bound.rule = bandwidth.rule;
    bound.limit = bandwidth.limit;
  }
  return bound;
}

SeparatePhases separate_phases(const Topology& topology, const BoundCollective& what) {
  if (what.collective.kind != CollectiveKind::kAllReduce || topology.rank_count() < 2 || what.count <= 0) return {};
  const FlowNetwork network(topology);
  const double bytes = static_cast<double>(what.bytes().count);
  const Candidate gather = gather_bound(network, bytes, false);
  if (network.symmetric) return {{2 * gather.seconds}, gather.limit};
  const Candidate scatter = gather_bound(network.reversed(), bytes, true);
  return {{scatter.seconds + gather.seconds}, fmt::format("{}; {}", scatter.limit, gather.limit)};
}

}  // namespace hocket

// Router: shortest paths over a topology, with tie-breaks that never depend on chance. Distances are kept per
// destination. A path is best when it has the fewest links and, among those, passes through the fewest npus (switches
// forward first). Ties: at an npu the lowest link id wins (dimension order on grids); at a switch, host or nic the
// candidate vertices, ascending, are chosen by rank of the destination modulo their number (D-mod-k). Of parallel links
// to the chosen vertex the fastest ones are spread by channel modulo their number. Ownership: keeps a pointer to the
// topology. Threading: one owner (the cache). Refuses: vertices that do not exist.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

class Router {
 public:
  explicit Router(const Topology& topology) : topology_(&topology) {}

  /// Links from `from` to `to`, in order; empty when they are the same vertex.
  [[nodiscard]] Result<std::vector<LinkId>> route(VertexId from, VertexId to, std::uint32_t channel);

  /// Links on a shortest path, or kUnreachable.
  [[nodiscard]] std::uint32_t hop_distance(VertexId from, VertexId to);

  /// Calls `visit` with every link from `at` that is on a best path to `to`.
  template <class Visit>
  void for_each_best_step(VertexId at, VertexId to, Visit&& visit) {
    const std::vector<Distance>& distances = distances_to(to);
    for (const LinkId id : topology_->outgoing(at)) {
      if (is_best_step(topology_->link(id), to, distances)) visit(id);
    }
  }

  static constexpr std::uint32_t kUnreachable = UINT32_MAX;

 private:
  /// Distance of one vertex to the destination; ordered by hops, then by npus passed through.
  struct Distance {
    std::uint32_t hops = kUnreachable;
    std::uint32_t npus = 0;
    auto operator<=>(const Distance&) const = default;
  };

  const std::vector<Distance>& distances_to(VertexId to);
  [[nodiscard]] bool is_best_step(const Link& link, VertexId to, const std::vector<Distance>& distances) const;
  [[nodiscard]] VertexId choose_next(VertexId at, VertexId to, const std::vector<Distance>& distances);
  [[nodiscard]] LinkId choose_link(VertexId at, VertexId next, std::uint32_t channel);

  const Topology* topology_;
  std::unordered_map<VertexId, std::vector<Distance>> cache_;  // looked up only, never walked
  std::vector<VertexId> candidates_;
  std::vector<LinkId> parallel_;
};

/// Least sum of latencies from `start` to every vertex (or from every vertex to it); infinite where there is no path.
[[nodiscard]] std::vector<double> latency_distances(const Topology& topology, VertexId start, bool forward);

}  // namespace hocket

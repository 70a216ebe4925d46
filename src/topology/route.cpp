#include "topology/route.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace hocket {
namespace {

// 256 MiB of distances; beyond that the cache starts afresh.
constexpr std::size_t kCachedDistancesMax = std::size_t{1} << 25;

}  // namespace

const std::vector<Router::Distance>& Router::distances_to(VertexId to) {
  if (const auto found = cache_.find(to); found != cache_.end()) return found->second;
  const std::size_t count = topology_->vertices().size();
  if ((cache_.size() + 1) * count > kCachedDistancesMax) cache_.clear();
  std::vector<Distance>& distances = cache_[to];
  distances.assign(count, {});
  distances[to] = {0, 0};
  std::vector<VertexId> queue{to};
  queue.reserve(count);
  // Breadth first: when a vertex is taken all vertices one hop closer have been taken, so its npu count is final.
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const VertexId v = queue[i];
    const bool passes_npu = v != to && topology_->vertices()[v].kind == VertexKind::kNpu;
    const Distance via{distances[v].hops + 1, distances[v].npus + (passes_npu ? 1 : 0)};
    for (const LinkId id : topology_->incoming(v)) {
      const VertexId u = topology_->link(id).from;
      if (distances[u].hops == kUnreachable) queue.push_back(u);
      distances[u] = std::min(distances[u], via);
    }
  }
  return distances;
}

bool Router::is_best_step(const Link& link, VertexId to, const std::vector<Distance>& distances) const {
  const Distance here = distances[link.from];
  const Distance there = distances[link.to];
  const bool passes_npu = link.to != to && topology_->vertices()[link.to].kind == VertexKind::kNpu;
  return there.hops != kUnreachable && there.hops + 1 == here.hops && there.npus + (passes_npu ? 1 : 0) == here.npus;
}

VertexId Router::choose_next(VertexId at, VertexId to, const std::vector<Distance>& distances) {
  candidates_.clear();
  for (const LinkId id : topology_->outgoing(at)) {
    const Link& link = topology_->link(id);
    if (!is_best_step(link, to, distances)) continue;
    if (topology_->vertices()[at].kind == VertexKind::kNpu) return link.to;
    candidates_.push_back(link.to);
  }
  std::sort(candidates_.begin(), candidates_.end());
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  const std::int32_t rank = topology_->rank_of(to);
  return candidates_[(rank >= 0 ? static_cast<std::uint32_t>(rank) : to) % candidates_.size()];
}

LinkId Router::choose_link(VertexId at, VertexId next, std::uint32_t channel) {
  parallel_.clear();
  const auto speed = [&](LinkId id) {
    return std::pair(topology_->link(id).bandwidth.value, -topology_->link(id).latency.value);
  };
  for (const LinkId id : topology_->outgoing(at)) {
    if (topology_->link(id).to != next) continue;
    if (!parallel_.empty() && speed(id) < speed(parallel_.front())) continue;
    if (!parallel_.empty() && speed(id) > speed(parallel_.front())) parallel_.clear();
    parallel_.push_back(id);
  }
  return parallel_[channel % parallel_.size()];
}

Result<std::vector<LinkId>> Router::route(VertexId from, VertexId to, std::uint32_t channel) {
  const std::size_t count = topology_->vertices().size();
  if (from >= count || to >= count) {
    return fail(Code::kInvalidArgument, "no route from vertex {} to {}: the topology has {} vertices", from, to, count);
  }
  const std::vector<Distance>& distances = distances_to(to);
  if (distances[from].hops == kUnreachable) {
    return fail(Code::kInvalidArgument, "no path from '{}' to '{}' in topology '{}'", topology_->vertices()[from].name,
                topology_->vertices()[to].name, topology_->name());
  }
  std::vector<LinkId> path;
  path.reserve(distances[from].hops);
  for (VertexId at = from; at != to;) {
    const VertexId next = choose_next(at, to, distances);
    path.push_back(choose_link(at, next, channel));
    at = next;
  }
  return path;
}

std::uint32_t Router::hop_distance(VertexId from, VertexId to) {
  const std::size_t count = topology_->vertices().size();
  return from < count && to < count ? distances_to(to)[from].hops : kUnreachable;
}

std::vector<double> latency_distances(const Topology& topology, VertexId start, bool forward) {
  std::vector<double> distances(topology.vertices().size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distances[start] = 0;
  queue.push({0, start});
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (distance > distances[v]) continue;
    for (const LinkId id : forward ? topology.outgoing(v) : topology.incoming(v)) {
      const Link& link = topology.link(id);
      const VertexId next = forward ? link.to : link.from;
      if (const double through = distance + link.latency.value; through < distances[next]) {
        distances[next] = through;
        queue.push({through, next});
      }
    }
  }
  return distances;
}

}  // namespace hocket

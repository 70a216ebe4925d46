#include "simulator/routes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace hocket {
namespace {

constexpr std::uint32_t kUnknown = 0xffffffffU;
constexpr std::size_t kRouteLinksMax = 0xffff;  // hops are counted in 16 bits
constexpr std::uint32_t kChannels = 1U << 16;

Result<void> check_route(const Topology& topology, std::span<const LinkId> route, VertexId from) {
  VertexId at = from;
  for (const LinkId link : route) {
    if (link >= topology.links().size() || topology.link(link).from != at) {
      return fail(Code::kMismatch, "a stated route from {} breaks off at {}", topology.vertices()[from].name,
                  topology.vertices()[at].name);
    }
    at = topology.link(link).to;
  }
  return {};
}

/// Number of links that compete with the first of `group` (sorted, fastest first) for being the fastest.
std::uint32_t equally_fast(const Topology& topology, std::span<const LinkId> group) {
  const auto same = [&](LinkId id) {
    const Link& first = topology.link(group.front());
    return topology.link(id).bandwidth == first.bandwidth && topology.link(id).latency == first.latency;
  };
  return static_cast<std::uint32_t>(std::count_if(group.begin(), group.end(), same));
}

/// Channels that differ by a multiple of this take the same shortest paths: the Router spreads parallel links by
/// channel modulo their number, and so 1 where there are none.
std::uint32_t channel_period(const Topology& topology) {
  std::uint32_t period = 1;
  std::vector<LinkId> links;
  const auto faster = [&](LinkId a, LinkId b) {
    const Link& x = topology.link(a);
    const Link& y = topology.link(b);
    return std::tuple(x.to, -x.bandwidth.value, x.latency.value) <
           std::tuple(y.to, -y.bandwidth.value, y.latency.value);
  };
  for (VertexId v = 0; v < topology.vertices().size(); ++v) {
    links.assign(topology.outgoing(v).begin(), topology.outgoing(v).end());
    std::sort(links.begin(), links.end(), faster);
    for (std::size_t begin = 0, end = 0; begin < links.size(); begin = end) {
      while (end < links.size() && topology.link(links[end]).to == topology.link(links[begin]).to) ++end;
      const std::uint32_t parallel = equally_fast(topology, std::span(links).subspan(begin, end - begin));
      if (std::lcm(std::uint64_t{period}, std::uint64_t{parallel}) >= kChannels) return kChannels;
      period = std::lcm(period, parallel);
    }
  }
  return period;
}

Result<void> check_fit(const Schedule& schedule, const Topology& topology) {
  if (schedule.rank_count() != topology.rank_count()) {
    return fail(Code::kMismatch, "the schedule has {} ranks, the topology {}", schedule.rank_count(),
                topology.rank_count());
  }
  if (schedule.route_count() > 0 && !(schedule.topology() == topology.fingerprint())) {
    return fail(
        Code::kMismatch,
        "the schedule's routes belong to another topology ({}, this one is {}): give the one that it was planned with, "
        "and its --link, --break ...",
        schedule.topology().text(), topology.fingerprint().text());
  }
  return {};
}

}  // namespace

Result<std::uint32_t> FlatRoutes::append(std::span<const LinkId> links) {
  if (links.size() > kRouteLinksMax) {
    return fail(Code::kUnsupported, "a route of {} links is too long (at most {})", links.size(), kRouteLinksMax);
  }
  if (links_.size() + links.size() >= kUnknown) {
    return fail(Code::kResourceExhausted, "the routes have more than 2^32 links");
  }
  double slowest = std::numeric_limits<double>::infinity();
  for (const LinkId link : links) slowest = std::min(slowest, topology_->link(link).bandwidth.value);
  slowest_.push_back({slowest});
  links_.insert(links_.end(), links.begin(), links.end());
  begin_.push_back(static_cast<std::uint32_t>(links_.size()));
  return static_cast<std::uint32_t>(begin_.size() - 2);
}

Result<std::uint32_t> FlatRoutes::stated(std::span<const LinkId> route, std::uint32_t& known, VertexId from,
                                         VertexId to) {
  if (known == kUnknown) {
    HOCKET_TRY(check_route(*topology_, route, from));
    HOCKET_TRY_ASSIGN(known, append(route));
  }
  if (route.empty() || topology_->link(route.front()).from != from || topology_->link(route.back()).to != to) {
    return fail(Code::kMismatch, "a stated route does not lead from {} to {}", topology_->vertices()[from].name,
                topology_->vertices()[to].name);
  }
  return known;
}

Result<FlatRoutes> FlatRoutes::behind(const InterfaceNetwork& network) const {
  FlatRoutes longer(network.topology());
  longer.index_ = index_;
  for (std::uint32_t i = 0; i + 1 < begin_.size(); ++i) {
    HOCKET_TRY(longer.append(network.behind(links(i))));
  }
  return longer;
}

Result<FlatRoutes> FlatRoutes::resolve(const Schedule& schedule, const Topology& topology) {
  HOCKET_TRY(check_fit(schedule, topology));
  FlatRoutes flat(topology);
  flat.index_.assign(schedule.ops().size(), 0);
  std::vector<std::uint32_t> stated(schedule.route_count(), kUnknown);
  std::unordered_map<std::uint64_t, std::uint32_t> shortest;  // looked up only, never walked
  const std::uint32_t period = channel_period(topology);
  Router router(topology);
  std::uint32_t rank = 0;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    while (schedule.first_op(rank + 1) <= id) ++rank;
    const Op& op = schedule.op(id);
    if (!op.sends()) continue;
    const VertexId from = topology.vertex_of(rank);
    const VertexId to = topology.vertex_of(op.peer);
    if (op.route != kNoRoute) {
      HOCKET_TRY_ASSIGN(flat.index_[id], flat.stated(schedule.route(op.route), stated[op.route], from, to));
      continue;
    }
    const std::uint32_t channel = op.channel % period;
    const std::uint64_t key = std::uint64_t{rank} << 40 | std::uint64_t{op.peer} << 16 | channel;
    const auto [entry, fresh] = shortest.try_emplace(key, 0);
    if (fresh) {
      HOCKET_TRY_ASSIGN(const std::vector<LinkId> path, router.route(from, to, channel));
      HOCKET_TRY_ASSIGN(entry->second, flat.append(path));
    }
    flat.index_[id] = entry->second;
  }
  return flat;
}

}  // namespace hocket

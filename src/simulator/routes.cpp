#include "simulator/routes.h"

#include <unordered_map>

namespace hocket {
namespace {

Result<void> check_route(const Topology& topology, std::span<const LinkId> route, VertexId from, VertexId to) {
  VertexId at = from;
  for (const LinkId link : route) {
    if (link >= topology.links().size() || topology.link(link).from != at) {
      return fail(Code::kMismatch, "a stated route does not lead from {} to {}", topology.vertices()[from].name,
                  topology.vertices()[to].name);
    }
    at = topology.link(link).to;
  }
  if (at != to) {
    return fail(Code::kMismatch, "a stated route ends at {}, its message at {}", topology.vertices()[at].name,
                topology.vertices()[to].name);
  }
  return {};
}

/// Shortest paths differ only by their ends and, for parallel links, by a small residue of the channel.
constexpr std::uint32_t kChannelResidues = 16;

}  // namespace

std::uint32_t FlatRoutes::append(std::span<const LinkId> links) {
  links_.insert(links_.end(), links.begin(), links.end());
  begin_.push_back(static_cast<std::uint32_t>(links_.size()));
  return static_cast<std::uint32_t>(begin_.size() - 2);
}

Result<FlatRoutes> FlatRoutes::resolve(const Schedule& schedule, const Topology& topology) {
  if (schedule.rank_count() != topology.rank_count()) {
    return fail(Code::kMismatch, "the schedule has {} ranks, the topology {}", schedule.rank_count(),
                topology.rank_count());
  }
  if (schedule.route_count() > 0 && !(schedule.topology() == topology.fingerprint())) {
    return fail(Code::kMismatch, "the schedule's routes belong to another topology ({}, this one is {})",
                schedule.topology().text(), topology.fingerprint().text());
  }
  FlatRoutes flat;
  flat.index_.assign(schedule.ops().size(), 0);
  std::unordered_map<std::uint64_t, std::uint32_t> known;  // looked up only, never walked
  Router router(topology);
  std::uint32_t rank = 0;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    while (schedule.first_op(rank + 1) <= id) ++rank;
    const Op& op = schedule.op(id);
    if (!op.sends()) continue;
    const bool stated = op.route != kNoRoute;
    const std::uint64_t ends = std::uint64_t{rank} << 40 | std::uint64_t{op.peer} << 16;
    const std::uint64_t key = stated ? ~std::uint64_t{op.route} : ends | op.channel % kChannelResidues;
    const auto [entry, fresh] = known.try_emplace(key, 0);
    if (fresh && stated) {
      HOCKET_TRY(
          check_route(topology, schedule.route(op.route), topology.vertex_of(rank), topology.vertex_of(op.peer)));
      entry->second = flat.append(schedule.route(op.route));
    } else if (fresh) {
      HOCKET_TRY_ASSIGN(
          const std::vector<LinkId> path,
          router.route(topology.vertex_of(rank), topology.vertex_of(op.peer), op.channel % kChannelResidues));
      entry->second = flat.append(path);
    }
    flat.index_[id] = entry->second;
  }
  return flat;
}

}  // namespace hocket

#include "planner/spread_routes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "schedule/builder.h"
#include "topology/route.h"

namespace hocket {
namespace {

constexpr int kSweepsMax = 8;

class Spreader {
 public:
  Spreader(const Schedule& schedule, const Topology& topology)
      : schedule_(schedule),
        topology_(topology),
        router_(topology),
        load_(topology.links().size(), 0),
        cost_(topology.vertices().size()),
        by_(topology.vertices().size()) {
    for (const Link& link : topology.links()) fastest_ = std::max(fastest_, link.bandwidth.value);
  }

  /// Per op its route; empty where the Router's is to be taken.
  Result<std::vector<std::vector<LinkId>>> run() {
    std::vector<std::vector<OpId>> steps(schedule_.steps());
    for (OpId id = 0; id < schedule_.ops().size(); ++id) {
      if (schedule_.op(id).sends()) steps[schedule_.op(id).step].push_back(id);
    }
    routes_.resize(schedule_.ops().size());
    for (const std::vector<OpId>& step : steps) HOCKET_TRY(spread(step));
    return std::move(routes_);
  }

 private:
  struct Ends {
    VertexId from;
    VertexId to;
  };
  [[nodiscard]] Ends ends(OpId id) const {
    return {topology_.vertex_of(schedule_.rank_of(id)), topology_.vertex_of(schedule_.op(id).peer)};
  }
  [[nodiscard]] double work(LinkId link, OpId id) const {
    return schedule_.op(id).count * fastest_ / topology_.link(link).bandwidth.value;
  }
  void add(OpId id, double sign) {
    for (const LinkId link : routes_[id]) load_[link] += sign * work(link, id);
  }

  Result<void> spread(const std::vector<OpId>& step) {
    for (const OpId id : step) {
      HOCKET_TRY_ASSIGN(routes_[id], router_.route(ends(id).from, ends(id).to, schedule_.op(id).channel));
      add(id, 1);
    }
    bool changed = true;
    for (int sweep = 0; changed && sweep < kSweepsMax; ++sweep) {
      changed = false;
      for (const OpId id : step) changed = send_anew(id) || changed;
    }
    for (const OpId id : step) add(id, -1);
    return {};
  }

  /// What the squares of loads grow by when a message takes a link.
  [[nodiscard]] double growth(LinkId link, OpId id) const {
    const double more = work(link, id);
    return more * (2 * load_[link] + more);
  }

  /// True when the message takes another way.
  bool send_anew(OpId id) {
    if (routes_[id].size() < 2) return false;
    add(id, -1);
    double now = 0;
    for (const LinkId link : routes_[id]) now += growth(link, id);
    const bool better = find_way(id) < now * (1 - 1e-9);
    if (better) {
      // As long as the one before: all are shortest.
      VertexId at = ends(id).to;
      for (auto link = routes_[id].rbegin(); link != routes_[id].rend(); at = topology_.link(*link++).from)
        *link = by_[at];
    }
    add(id, 1);
    return better;
  }

  /// The best of the shortest ways: layer after layer of the vertices on them, by_ says by which link each is reached.
  double find_way(OpId id) {
    const auto [from, to] = ends(id);
    layer_.assign(1, from);
    cost_[from] = 0;
    while (layer_.front() != to) {
      next_.clear();
      for (const VertexId at : layer_) {
        router_.for_each_best_step(at, to, [&](LinkId link) {
          const VertexId there = topology_.link(link).to;
          const double cost = cost_[at] + growth(link, id);
          const bool met = std::find(next_.begin(), next_.end(), there) != next_.end();
          if (met && cost >= cost_[there]) return;
          if (!met) next_.push_back(there);
          cost_[there] = cost;
          by_[there] = link;
        });
      }
      layer_.swap(next_);
    }
    return cost_[to];
  }

  const Schedule& schedule_;
  const Topology& topology_;
  Router router_;
  double fastest_ = 0;
  std::vector<double> load_;  // per link: pieces over its relative rate, of one step
  std::vector<double> cost_;  // per vertex
  std::vector<LinkId> by_;    // per vertex
  std::vector<VertexId> layer_;
  std::vector<VertexId> next_;
  std::vector<std::vector<LinkId>> routes_;  // per op
};

}  // namespace

Result<Schedule> spread_routes(Schedule schedule, const Topology& topology) {
  if (schedule.route_count() > 0) return schedule;
  HOCKET_TRY_ASSIGN(const std::vector<std::vector<LinkId>> routes, Spreader(schedule, topology).run());
  return ScheduleBuilder::with_routes(std::move(schedule), routes, topology.fingerprint());
}

}  // namespace hocket

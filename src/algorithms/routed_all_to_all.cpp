// Routed all-to-all: every rank sends every other rank its block itself, over paths chosen together so that no link is
// much fuller than it must be: a multicommodity flow by repeated shortest paths (Garg and Koenemann, SIAM J. Comput.
// 2007), here with whole pieces. Every source in turn takes its pieces back and sends them anew, over lengths that grow
// with the load of the others. Ring of four, blocks of two pieces; opposite ranks have two shortest paths:
//     0 -> 2 one piece by 1, one piece by 3        others straight
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "algorithms/algorithm.h"

namespace hocket {
namespace {

std::string supports(const PlanRequest& request) {
  return request.collective.kind == CollectiveKind::kAllToAll ? "" : "it does all_to_all only";
}

/// Pieces of all pairs that are routed at most; fewer pieces per block on large networks.
constexpr std::uint64_t kRoutesMax = 20'000;
constexpr std::uint32_t kPiecesMax = 12;
constexpr int kSweeps = 12;

class Flow {
 public:
  Flow(const Topology& topology, std::uint32_t pieces)
      : topology_(topology),
        pieces_(pieces),
        load_(topology.links().size(), 0),
        length_(topology.links().size(), 0),
        routes_(std::size_t{topology.rank_count()} * topology.rank_count() * pieces) {
    for (const Link& link : topology.links()) fastest_ = std::max(fastest_, link.bandwidth.value);
  }

  /// Keeps the routes of the sweep with the least largest load.
  void run() {
    std::vector<std::vector<LinkId>> best;
    double least = std::numeric_limits<double>::infinity();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
        for (std::uint32_t from = 0; from < topology_.rank_count(); ++from) send_anew(from, piece, sweep);
      }
      if (most_loaded() >= least * (1 - 1e-9)) continue;
      least = most_loaded();
      best = routes_;
    }
    routes_ = std::move(best);
  }

  [[nodiscard]] const std::vector<LinkId>& route(std::uint32_t from, std::uint32_t to, std::uint32_t piece) const {
    return routes_[(std::size_t{from} * topology_.rank_count() + to) * pieces_ + piece];
  }

 private:
  [[nodiscard]] double busy(LinkId id) const { return load_[id] * fastest_ / topology_.link(id).bandwidth.value; }
  [[nodiscard]] double most_loaded() const {
    double most = 0;
    for (LinkId id = 0; id < load_.size(); ++id) most = std::max(most, busy(id));
    return most;
  }

  void send_anew(std::uint32_t from, std::uint32_t piece, int sweep) {
    const std::uint32_t ranks = topology_.rank_count();
    const std::size_t first = std::size_t{from} * ranks * pieces_ + piece;
    for (std::uint32_t to = 0; to < ranks; ++to) {
      for (const LinkId id : routes_[first + std::size_t{to} * pieces_]) --load_[id];
    }
    const double most = std::max(1.0, most_loaded());
    const double sharpness = 2 + sweep;
    for (LinkId id = 0; id < load_.size(); ++id) {
      length_[id] = fastest_ / topology_.link(id).bandwidth.value * std::exp(sharpness * (busy(id) / most - 1)) + 1e-3;
    }
    find_paths(topology_.vertex_of(from), from + piece);
    for (std::uint32_t i = 1; i < ranks; ++i) {
      const std::uint32_t to = (from + i) % ranks;
      std::vector<LinkId>& route = routes_[first + std::size_t{to} * pieces_];
      route.clear();
      for (VertexId v = topology_.vertex_of(to); v != topology_.vertex_of(from); v = topology_.link(by_[v]).from) {
        route.push_back(by_[v]);
        ++load_[by_[v]];
      }
      std::reverse(route.begin(), route.end());
    }
  }

  /// Dijkstra; of equally short links into a vertex the one that `turn` picks.
  void find_paths(VertexId start, std::uint32_t turn) {
    using Entry = std::pair<double, VertexId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance_.assign(topology_.vertices().size(), std::numeric_limits<double>::infinity());
    by_.assign(topology_.vertices().size(), 0);
    distance_[start] = 0;
    queue.push({0, start});
    while (!queue.empty()) {
      const auto [distance, v] = queue.top();
      queue.pop();
      if (distance > distance_[v]) continue;
      const auto links = topology_.outgoing(v);
      for (std::size_t i = 0; i < links.size(); ++i) {
        const LinkId id = links[(i + turn) % links.size()];
        const VertexId to = topology_.link(id).to;
        if (distance + length_[id] >= distance_[to]) continue;
        distance_[to] = distance + length_[id];
        by_[to] = id;
        queue.push({distance_[to], to});
      }
    }
  }

  const Topology& topology_;
  std::uint32_t pieces_;
  double fastest_ = 0;
  std::vector<double> load_;
  std::vector<double> length_;
  std::vector<std::vector<LinkId>> routes_;
  std::vector<double> distance_;
  std::vector<LinkId> by_;
};

Result<Schedule> plan(const PlanRequest& request) {
  const Collective& collective = request.collective;
  const std::uint32_t n = collective.ranks;
  const std::uint64_t affordable = kRoutesMax / (std::uint64_t{n} * n);
  const auto pieces = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 1, kPiecesMax));
  Flow flow(request.topology, pieces);
  flow.run();
  const Division division{.blocks = n, .pieces_per_block = pieces, .weights = {}};
  ScheduleBuilder builder(collective, division, "routed_all_to_all");
  builder.set_topology(request.topology.fingerprint());
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    builder.copy(rank, {Buffer::kInput, rank * pieces, pieces}, {Buffer::kOutput, rank * pieces, pieces});
    for (std::uint32_t step = 0; step + 1 < n; ++step) {
      const std::uint32_t to = (rank + 1 + step) % n;
      const std::uint32_t from = (rank + n - 1 - step) % n;
      for (std::uint32_t p = 0; p < pieces; ++p) {
        const auto channel = static_cast<std::uint16_t>(p);
        const std::uint32_t route = builder.add_route(flow.route(rank, to, p));
        builder.send(rank, to, {Buffer::kInput, to * pieces + p, 1}, {channel, step, route});
        builder.recv(rank, from, {Buffer::kOutput, from * pieces + p, 1}, {.channel = channel, .step = step});
      }
    }
  }
  return std::move(builder).finish();
}

}  // namespace

extern const Algorithm algorithm_routed_all_to_all{
    .name = "routed_all_to_all",
    .description = "all-to-all over paths chosen together, so that all links are loaded evenly",
    .source = "Garg and Koenemann, SIAM J. Comput. 2007, section 3",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket

#include "algorithms/packing/repair.h"

#include <algorithm>
#include <map>
#include <optional>

#include "algorithms/packing/cables.h"
#include "algorithms/packing/rehanger.h"
#include "algorithms/parts/forest.h"
#include "algorithms/parts/trees.h"
#include "topology/route.h"

namespace hocket {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::uint64_t kWorkMax = 2'000'000;  // of evening out

/// Per piece and rank the parent in the tree along which the piece travels.
class Parents {
 public:
  explicit Parents(const Schedule& schedule)
      : ranks_(schedule.rank_count()),
        pieces_(schedule.division().pieces()),
        down_(std::size_t{pieces_} * ranks_, kNobody),
        up_(down_) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
        const Op& op = schedule.op(id);
        if (op.kind == OpKind::kRecv) set(down_, op, rank, op.peer);
        if (op.kind == OpKind::kRecvReduce) set(up_, op, op.peer, rank);
      }
    }
  }

  [[nodiscard]] bool are_trees() const { return trees_; }
  /// Pieces in a row that share their trees; every group has as many. 0: they do not.
  [[nodiscard]] std::uint32_t group() const {
    std::uint32_t length = 1;
    while (length < pieces_ && same(0, length)) ++length;
    for (std::uint32_t p = 0; p < pieces_; ++p) {
      if (p % length != 0 && !same(p - 1, p)) return 1;
    }
    return pieces_ % length == 0 ? length : 1;
  }
  /// The tree of a piece: edges without links. Empty when the ranks do not form one.
  [[nodiscard]] std::optional<std::vector<TreeEdge>> tree(std::uint32_t piece, bool up, std::uint32_t& root) const {
    const std::vector<std::uint32_t>& parents = up ? up_ : down_;
    std::vector<TreeEdge> edges;
    root = kNobody;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const std::uint32_t parent = parents[std::size_t{piece} * ranks_ + rank];
      if (parent == kNobody) {
        if (root != kNobody) return std::nullopt;
        root = rank;
      } else {
        edges.push_back({.tree = 0, .parent = parent, .child = rank});
      }
    }
    if (root == kNobody || !reaches_root(parents, piece, root)) return std::nullopt;
    return edges;
  }
  [[nodiscard]] bool mirrored() const { return up_ == down_; }

 private:
  void set(std::vector<std::uint32_t>& parents, const Op& op, std::uint32_t child, std::uint32_t parent) {
    for (std::uint32_t i = 0; i < op.count; ++i) {
      std::uint32_t& place = parents[std::size_t{(op.target_piece + i) % pieces_} * ranks_ + child];
      trees_ = trees_ && place == kNobody;
      place = parent;
    }
  }
  [[nodiscard]] bool same(std::uint32_t a, std::uint32_t b) const {
    const auto equal = [&](const std::vector<std::uint32_t>& parents) {
      const auto begin = parents.begin() + static_cast<std::ptrdiff_t>(std::size_t{a} * ranks_);
      return std::equal(begin, begin + ranks_, parents.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * ranks_));
    };
    return equal(down_) && equal(up_);
  }
  [[nodiscard]] bool reaches_root(const std::vector<std::uint32_t>& parents, std::uint32_t piece,
                                  std::uint32_t root) const {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::uint32_t steps = 0;
      for (std::uint32_t at = rank; at != root; at = parents[std::size_t{piece} * ranks_ + at]) {
        if (++steps > ranks_) return false;
      }
    }
    return true;
  }

  std::uint32_t ranks_;
  std::uint32_t pieces_;
  std::vector<std::uint32_t> down_, up_;  // piece * ranks + rank
  bool trees_ = true;
};

/// Shortest ways between parents and children; an edge that would pass through other ranks stays loose.
class Ways {
 public:
  explicit Ways(const Topology& topology) : topology_(topology), router_(topology), load_(topology.links().size(), 0) {}

  Result<void> add(Trees& trees, TreeEdge edge, bool up) {
    const VertexId parent = topology_.vertex_of(edge.parent);
    const VertexId child = topology_.vertex_of(edge.child);
    edge.first_link = static_cast<std::uint32_t>(trees.links.size());
    HOCKET_TRY_ASSIGN(std::vector<LinkId> way, router_.route(up ? child : parent, up ? parent : child, 0));
    for (LinkId& id : way) id = emptiest(id);
    const bool through_rank = std::any_of(way.begin(), way.end(), [&](LinkId id) {
      return id != way.back() && topology_.rank_of(topology_.link(id).to) >= 0;
    });
    if (!through_rank) {
      edge.link_count = static_cast<std::uint32_t>(way.size());
      for (const LinkId id : way) ++load_[id];
      trees.links.insert(trees.links.end(), way.begin(), way.end());
    }
    trees.edges.push_back(edge);
    return {};
  }

 private:
  /// Of the links parallel to this one the one with most room.
  [[nodiscard]] LinkId emptiest(LinkId id) const {
    LinkId best = id;
    for (const LinkId other : topology_.outgoing(topology_.link(id).from)) {
      if (topology_.link(other).to != topology_.link(id).to) continue;
      const auto busy = [&](LinkId link) { return (load_[link] + 1) / topology_.link(link).bandwidth.value; };
      if (busy(other) < busy(best)) best = other;
    }
    return best;
  }

  const Topology& topology_;
  Router router_;
  std::vector<double> load_;
};

/// Trees that are used up and down over the cables of a direct network: any cable may join their pieces again.
Result<SpanningPacking> mend_cables(const Parents& parents, std::uint32_t pieces, const Cables& cables) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> between;
  for (std::uint32_t c = 0; c < cables.graph.cables.size(); ++c) {
    between[std::minmax(cables.graph.cables[c].a, cables.graph.cables[c].b)].push_back(c);
  }
  std::vector<double> load(cables.graph.cables.size(), 0);
  std::vector<std::vector<std::uint32_t>> kept;
  const std::uint32_t group = parents.group();
  for (std::uint32_t piece = 0; piece < pieces; piece += group) {
    std::uint32_t root = 0;
    const auto edges = parents.tree(piece, false, root);
    if (!edges) return fail(Code::kUnsupported, "piece {} does not travel along a tree", piece);
    kept.emplace_back();
    for (const TreeEdge& edge : *edges) {
      const auto parallel = between.find(std::minmax(edge.parent, edge.child));
      if (parallel == between.end()) continue;
      const auto busy = [&](std::uint32_t c) { return (load[c] + 1) / cables.graph.cables[c].capacity; };
      const std::uint32_t cable =
          *std::min_element(parallel->second.begin(), parallel->second.end(),
                            [&](std::uint32_t x, std::uint32_t y) { return busy(x) < busy(y); });
      ++load[cable];
      kept.back().push_back(cable);
    }
  }
  return mend_spanning_trees(cables.graph, kept);
}

Result<Trees> repair_trees(const Parents& parents, std::uint32_t pieces, const Topology& topology,
                           Rehanger::Travel travel) {
  const bool up = travel == Rehanger::Travel::kUp;
  Trees loose;
  std::vector<std::uint32_t> roots;
  Ways ways(topology);
  const std::uint32_t group = parents.group();
  for (std::uint32_t t = 0; t < pieces / group; ++t) {
    std::uint32_t root = 0;
    const auto edges = parents.tree(t * group, up, root);
    if (!edges) return fail(Code::kUnsupported, "piece {} does not travel along a tree", t * group);
    roots.push_back(root);
    for (TreeEdge edge : *edges) {
      edge.tree = t;
      HOCKET_TRY(ways.add(loose, edge, up));
    }
  }
  Rehanger rehanger(topology, loose, roots, travel);
  if (!rehanger.hang_loose()) return fail(Code::kUnsupported, "topology '{}': a rank is cut off", topology.name());
  rehanger.even_out(0, kWorkMax);
  return rehanger.take_trees();
}

}  // namespace

Result<Schedule> repair_schedule(const Schedule& old, const Topology& topology) {
  const Collective& collective = old.collective();
  if (collective.ranks != topology.rank_count()) {
    return fail(Code::kMismatch, "the schedule has {} ranks, the topology {}", collective.ranks, topology.rank_count());
  }
  const Parents parents(old);
  const std::uint32_t pieces = old.division().pieces();
  if (!parents.are_trees() || collective.kind == CollectiveKind::kAllToAll) {
    return fail(Code::kUnsupported, "'{}' cannot be repaired: its pieces do not travel along trees", old.algorithm());
  }
  if (!old.division().weights.empty()) return fail(Code::kUnsupported, "pieces of unequal weight cannot be repaired");
  const bool both = collective.kind == CollectiveKind::kAllReduce;
  const bool mirrored = both && parents.mirrored() && !twin_links(topology).empty();
  Trees up, down;
  if (mirrored && topology.rank_count() == topology.vertices().size() && cables_connect(topology)) {
    const Cables cables = pair_links(topology);
    HOCKET_TRY_ASSIGN(const SpanningPacking packing, mend_cables(parents, pieces, cables));
    up = trees_of(packing, cables, true);
    down = trees_of(packing, cables, false);
    const TreePlan plan{.up = up, .down = down, .pieces_per_tree = parents.group(), .topology = &topology};
    return schedule_trees(collective, plan, old.algorithm());
  }
  if (reduces(collective.kind) && !mirrored) {
    HOCKET_TRY_ASSIGN(up, repair_trees(parents, pieces, topology, Rehanger::Travel::kUp));
  }
  if (!reduces(collective.kind) || both) {
    const auto travel = mirrored ? Rehanger::Travel::kBoth : Rehanger::Travel::kDown;
    HOCKET_TRY_ASSIGN(down, repair_trees(parents, pieces, topology, travel));
  }
  if (mirrored) up = twin_trees(topology, down);
  const TreePlan plan{
      .up = up, .down = down.count > 0 ? down : up, .pieces_per_tree = parents.group(), .topology = &topology};
  return schedule_trees(collective, plan, old.algorithm());
}

}  // namespace hocket

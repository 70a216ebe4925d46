#include "algorithms/packing/repair.h"

#include <algorithm>
#include <map>
#include <optional>

#include "algorithms/algorithm.h"
#include "algorithms/packing/cables.h"
#include "algorithms/packing/rehanger.h"
#include "algorithms/parts/forest.h"
#include "algorithms/parts/trees.h"
#include "topology/route.h"

namespace hocket {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::uint64_t kWorkMax = 2'000'000;  // of evening out

/// A tree as the schedule has it, or what is left of it.
struct OldTree {
  std::uint32_t root = 0;
  std::vector<std::uint32_t> parent;  // per rank; kNobody: the root, or one whose parent is lost
};

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
  /// The tree of a piece. Nothing when the ranks do not form one.
  [[nodiscard]] std::optional<OldTree> tree(std::uint32_t piece, bool up) const {
    const std::vector<std::uint32_t>& parents = up ? up_ : down_;
    const auto first = parents.begin() + static_cast<std::ptrdiff_t>(std::size_t{piece} * ranks_);
    OldTree tree{.root = kNobody, .parent = {first, first + ranks_}};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (tree.parent[rank] != kNobody) continue;
      if (tree.root != kNobody) return std::nullopt;
      tree.root = rank;
    }
    if (tree.root == kNobody || !reaches_root(parents, piece, tree.root)) return std::nullopt;
    return tree;
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

/// Who is left, and what that leaves of the old trees.
class Survivors {
 public:
  Survivors(std::uint32_t old_ranks, std::span<const std::uint32_t> survivors) : now_(old_ranks, kNobody) {
    for (std::uint32_t rank = 0; rank < old_ranks && survivors.empty(); ++rank) now_[rank] = rank;
    for (std::uint32_t rank = 0; rank < survivors.size(); ++rank) now_[survivors[rank]] = rank;
  }
  [[nodiscard]] bool lost(std::uint32_t old_rank) const { return now_[old_rank] == kNobody; }
  [[nodiscard]] std::uint32_t now(std::uint32_t old_rank) const { return now_[old_rank]; }

  /// In the ranks of now. A lost root is followed by one of its children; other children of lost ranks hang loose.
  [[nodiscard]] OldTree rest_of(const OldTree& old) const {
    OldTree rest;
    const std::uint32_t heir = heir_of(old);
    rest.root = now_[heir];
    for (std::uint32_t rank = 0; rank < now_.size(); ++rank) {
      if (lost(rank)) continue;
      const std::uint32_t parent = rank == heir ? kNobody : old.parent[rank];
      rest.parent.push_back(parent == kNobody ? kNobody : now_[parent]);
    }
    return rest;
  }

 private:
  [[nodiscard]] std::uint32_t heir_of(const OldTree& old) const {
    if (!lost(old.root)) return old.root;
    std::uint32_t heir = kNobody;
    for (std::uint32_t rank = 0; rank < now_.size(); ++rank) {
      if (lost(rank)) continue;
      if (old.parent[rank] == old.root) return rank;
      if (heir == kNobody) heir = rank;
    }
    return heir;
  }

  std::vector<std::uint32_t> now_;  // per old rank
};

/// Trees by root: those of a lost rank go with it when every rank has as many of its own.
bool each_rank_has_as_many(const std::vector<OldTree>& trees, std::uint32_t ranks) {
  std::vector<std::size_t> count(ranks, 0);
  for (const OldTree& tree : trees) ++count[tree.root];
  return std::all_of(count.begin(), count.end(), [&](std::size_t c) { return c * ranks == trees.size() && c > 0; });
}

Result<std::vector<OldTree>> survey(const Parents& parents, std::uint32_t pieces, bool up, const Survivors& survivors,
                                    std::uint32_t old_ranks) {
  std::vector<OldTree> trees;
  const std::uint32_t group = parents.group();
  for (std::uint32_t piece = 0; piece < pieces; piece += group) {
    auto tree = parents.tree(piece, up);
    if (!tree) return fail(Code::kUnsupported, "piece {} does not travel along a tree", piece);
    trees.push_back(std::move(*tree));
  }
  if (each_rank_has_as_many(trees, old_ranks)) {
    std::erase_if(trees, [&](const OldTree& tree) { return survivors.lost(tree.root); });
  }
  for (OldTree& tree : trees) tree = survivors.rest_of(tree);
  return trees;
}

/// Trees that are used up and down over the cables of a direct network: any cable may join their pieces again.
SpanningPacking mend_cables(const std::vector<OldTree>& trees, const Cables& cables) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> between;
  for (std::uint32_t c = 0; c < cables.graph.cables.size(); ++c) {
    between[std::minmax(cables.graph.cables[c].a, cables.graph.cables[c].b)].push_back(c);
  }
  std::vector<double> load(cables.graph.cables.size(), 0);
  std::vector<std::vector<std::uint32_t>> kept;
  kept.reserve(trees.size());
  for (const OldTree& tree : trees) {
    kept.emplace_back();
    for (std::uint32_t child = 0; child < tree.parent.size(); ++child) {
      const auto parallel = between.find(std::minmax(tree.parent[child], child));
      if (tree.parent[child] == kNobody || parallel == between.end()) continue;
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

Result<Trees> repair_trees(const std::vector<OldTree>& old, const Topology& topology, Rehanger::Travel travel) {
  Trees loose;
  std::vector<std::uint32_t> roots;
  Ways ways(topology);
  for (std::uint32_t t = 0; t < old.size(); ++t) {
    roots.push_back(old[t].root);
    for (std::uint32_t child = 0; child < old[t].parent.size(); ++child) {
      if (child == old[t].root) continue;
      // One whose parent is lost is tried on the root; too far away for that, it hangs loose.
      const std::uint32_t parent = old[t].parent[child] == kNobody ? old[t].root : old[t].parent[child];
      HOCKET_TRY(ways.add(loose, {.tree = t, .parent = parent, .child = child}, travel == Rehanger::Travel::kUp));
    }
  }
  Rehanger rehanger(topology, loose, roots, travel);
  if (!rehanger.hang_loose()) return fail(Code::kUnsupported, "topology '{}': a rank is cut off", topology.name());
  rehanger.even_out(0, kWorkMax);
  return rehanger.take_trees();
}

Result<void> check_repairable(const Schedule& old, const Topology& topology, const Parents& parents,
                              std::span<const std::uint32_t> survivors) {
  const Collective& collective = old.collective();
  const std::size_t left = survivors.empty() ? collective.ranks : survivors.size();
  if (left != topology.rank_count()) {
    return fail(Code::kMismatch, "the schedule has {} ranks{}, the topology {}", collective.ranks,
                survivors.empty() ? std::string() : fmt::format(" ({} survive)", left), topology.rank_count());
  }
  if (!survivors.empty() && survivors.back() >= collective.ranks) {
    return fail(Code::kMismatch, "rank {} survives, but the schedule has {} ranks", survivors.back(), collective.ranks);
  }
  if (!parents.are_trees() || collective.kind == CollectiveKind::kAllToAll) {
    return fail(Code::kUnsupported, "'{}' cannot be repaired: its pieces do not travel along trees", old.algorithm());
  }
  if (!old.division().weights.empty()) return fail(Code::kUnsupported, "pieces of unequal weight cannot be repaired");
  return {};
}

}  // namespace

Result<Schedule> repair_schedule(const Schedule& old, const Topology& topology,
                                 std::span<const std::uint32_t> survivors) {
  const Parents parents(old);
  HOCKET_TRY(check_repairable(old, topology, parents, survivors));
  const Survivors left(old.rank_count(), survivors);
  Collective collective = old.collective();
  if (is_rooted(collective.kind) && left.lost(collective.root))
    return fail(Code::kUnsupported, "rank {} is lost and was the root of the {}", collective.root,
                name_of(collective.kind));
  if (is_rooted(collective.kind)) collective.root = left.now(collective.root);
  collective.ranks = topology.rank_count();
  if (collective.ranks == 1) return plan_single_rank(collective);
  const bool both = collective.kind == CollectiveKind::kAllReduce;
  const bool mirrored = both && parents.mirrored() && !twin_links(topology).empty();
  const std::uint32_t pieces = old.division().pieces();
  const bool climbs = reduces(collective.kind);
  HOCKET_TRY_ASSIGN(const std::vector<OldTree> trees,
                    survey(parents, pieces, climbs && !mirrored, left, old.rank_count()));
  Trees up, down;
  if (mirrored && topology.rank_count() == topology.vertices().size() && cables_connect(topology)) {
    const Cables cables = pair_links(topology);
    const SpanningPacking packing = mend_cables(trees, cables);
    up = trees_of(packing, cables, true);
    down = trees_of(packing, cables, false);
  } else if (mirrored) {
    HOCKET_TRY_ASSIGN(down, repair_trees(trees, topology, Rehanger::Travel::kBoth));
    up = twin_trees(topology, down);
  } else {
    HOCKET_TRY_ASSIGN(down, repair_trees(trees, topology, climbs ? Rehanger::Travel::kUp : Rehanger::Travel::kDown));
    if (climbs) up = down;
    if (both) {
      HOCKET_TRY_ASSIGN(const std::vector<OldTree> spread, survey(parents, pieces, false, left, old.rank_count()));
      HOCKET_TRY_ASSIGN(down, repair_trees(spread, topology, Rehanger::Travel::kDown));
    }
  }
  const TreePlan plan{.up = up, .down = down, .pieces_per_tree = parents.group(), .topology = &topology};
  return schedule_trees(collective, plan, old.algorithm());
}

}  // namespace hocket

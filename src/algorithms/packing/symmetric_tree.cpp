#include "algorithms/packing/symmetric_tree.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "algorithms/parts/forest.h"

namespace hocket {
namespace {

class Growth {
 public:
  explicit Growth(const Translations& t) : t_(t), reached_(t.vertices(), false), next_free_(t.classes(), 0) {
    double fastest = 0;
    for (std::uint32_t c = 0; c < t.classes(); ++c) fastest = std::max(fastest, t.bandwidth(c));
    for (std::uint32_t c = 0; c < t.classes(); ++c) {
      ticks_.push_back(std::llround(static_cast<double>(kTicksFastest) * fastest / t.bandwidth(c)));
    }
    add({0, 0});
  }

  SymmetricTree grow() && {
    std::set<std::int64_t> events{0};
    while (missing_ > 0) {
      const std::int64_t now = *events.begin();
      events.erase(events.begin());
      if (!attach_all(now, events)) continue;
      ++tree_.steps;
    }
    return std::move(tree_);
  }

 private:
  struct Member {
    std::uint32_t vertex = 0;
    std::int64_t ready = 0;
  };

  void add(Member member) {
    reached_[member.vertex] = true;
    members_.push_back(member);
    --missing_;
  }

  /// Over every class that is free, from the member that has waited longest.
  bool attach_all(std::int64_t now, std::set<std::int64_t>& events) {
    std::erase_if(members_, [&](const Member& m) { return !leads_on(m.vertex); });
    const std::size_t old = members_.size();
    bool attached = false;
    std::uint32_t taken = 0;
    for (std::size_t i = 0; i < old && taken < t_.classes() && missing_ > 0; ++i) {
      if (members_[i].ready > now) continue;
      for (std::uint32_t c = 0; c < t_.classes(); ++c) {
        const std::uint32_t child = t_.head(members_[i].vertex, c);
        if (next_free_[c] > now || reached_[child]) continue;
        next_free_[c] = now + ticks_[c];
        events.insert(next_free_[c]);
        tree_.edges.push_back({members_[i].vertex, child, c, tree_.steps});
        add({child, next_free_[c]});
        attached = true;
        ++taken;
      }
    }
    return attached;
  }

  [[nodiscard]] bool leads_on(std::uint32_t vertex) const {
    for (std::uint32_t c = 0; c < t_.classes(); ++c) {
      if (!reached_[t_.head(vertex, c)]) return true;
    }
    return false;
  }

  const Translations& t_;
  std::vector<bool> reached_;
  std::vector<std::int64_t> ticks_, next_free_;  // per class
  std::vector<Member> members_;
  std::uint32_t missing_ = t_.vertices();
  SymmetricTree tree_;
};

/// Where the links of a class lead: from the topology alone.
Result<std::vector<VertexId>> permutation_of(const Topology& topology, const Translations& t, std::uint32_t cls) {
  std::vector<VertexId> to(t.vertices());
  std::vector<bool> met(t.vertices(), false);
  const Link& first = topology.link(t.link(0, cls));
  for (VertexId v = 0; v < t.vertices(); ++v) {
    const Link& link = topology.link(t.link(v, cls));
    if (link.from != v || link.bandwidth.value != first.bandwidth.value || link.latency.value != first.latency.value)
      return fail(Code::kDisproved, "class {}: link {} is not vertex {}'s or of another rate", cls, t.link(v, cls), v);
    if (met[link.to]) return fail(Code::kDisproved, "class {}: two links lead to vertex {}", cls, link.to);
    met[link.to] = true;
    to[v] = link.to;
  }
  return to;
}

using Permutations = std::vector<std::vector<VertexId>>;

Result<void> check_commute(const Permutations& to) {
  for (std::size_t a = 0; a < to.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      for (VertexId v = 0; v < to[a].size(); ++v) {
        if (to[a][to[b][v]] == to[b][to[a][v]]) continue;
        return fail(Code::kDisproved, "classes {} and {} do not commute at vertex {}", a, b, v);
      }
    }
  }
  return {};
}

Result<void> check_spans(const SymmetricTree& tree, const Permutations& to, std::uint32_t vertices) {
  constexpr std::uint32_t kNotReached = UINT32_MAX;
  std::vector<std::uint32_t> after(vertices, kNotReached);  // from this step on a vertex may forward
  after[0] = 0;
  for (const SymmetricTree::Edge& edge : tree.edges) {
    if (edge.cls >= to.size() || edge.parent >= vertices || edge.child >= vertices)
      return fail(Code::kDisproved, "an edge beyond {} classes and {} vertices", to.size(), vertices);
    if (after[edge.parent] == kNotReached || edge.step < after[edge.parent])
      return fail(Code::kDisproved, "vertex {} forwards in step {} what it does not have", edge.parent, edge.step);
    if (to[edge.cls][edge.parent] != edge.child)
      return fail(Code::kDisproved, "class {} leads from {} to {}, not to {}", edge.cls, edge.parent,
                  to[edge.cls][edge.parent], edge.child);
    if (after[edge.child] != kNotReached) return fail(Code::kDisproved, "vertex {} is reached twice", edge.child);
    after[edge.child] = edge.step + 1;
  }
  const auto missed = std::find(after.begin(), after.end(), kNotReached);
  if (missed == after.end()) return {};
  return fail(Code::kDisproved, "vertex {} is not reached", missed - after.begin());
}

}  // namespace

SymmetricTree grow_symmetric_tree(const Translations& translations) { return Growth(translations).grow(); }

Result<void> prove_symmetric(const Topology& topology, const Translations& t, const SymmetricTree& tree,
                             bool one_per_step) {
  if (topology.rank_count() != t.vertices() || topology.links().size() != std::size_t{t.vertices()} * t.classes())
    return fail(Code::kDisproved, "{} vertices of {} links each are not topology '{}'", t.vertices(), t.classes(),
                topology.name());
  Permutations to;
  std::vector<bool> met(topology.links().size(), false);
  for (std::uint32_t c = 0; c < t.classes(); ++c) {
    HOCKET_TRY_ASSIGN(std::vector<VertexId> one, permutation_of(topology, t, c));
    to.push_back(std::move(one));
    for (VertexId v = 0; v < t.vertices(); ++v) {
      if (met[t.link(v, c)]) return fail(Code::kDisproved, "link {} is in two classes", t.link(v, c));
      met[t.link(v, c)] = true;
    }
  }
  HOCKET_TRY(check_commute(to));
  HOCKET_TRY(check_spans(tree, to, t.vertices()));
  for (std::uint32_t c = 0; c < t.classes(); ++c) {
    for (VertexId v = 0; v < t.vertices(); ++v) {
      if (to[t.twin(c)][to[c][v]] == v) continue;
      return fail(Code::kDisproved, "class {} does not lead back from where class {} leads", t.twin(c), c);
    }
  }
  if (!one_per_step) return {};
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const SymmetricTree::Edge& edge : tree.edges) {
    if (!used.emplace(edge.step, edge.cls).second)
      return fail(Code::kDisproved, "step {} uses class {} twice", edge.step, edge.cls);
  }
  return {};
}

Trees all_copies(const Translations& t, const SymmetricTree& tree, bool reversed) {
  Trees all{.count = t.vertices(), .steps = tree.steps, .edges = {}, .links = {}};
  all.edges.reserve(tree.edges.size() * t.vertices());
  for (const SymmetricTree::Edge& edge : tree.edges) {
    for (std::uint32_t root = 0; root < t.vertices(); ++root) {
      const std::uint32_t parent = t.sum(edge.parent, root);
      const std::uint32_t child = t.sum(edge.child, root);
      all.edges.push_back({root, parent, child, edge.step, static_cast<std::uint32_t>(all.links.size()), 1});
      all.links.push_back(reversed ? t.link(child, t.twin(edge.cls)) : t.link(parent, edge.cls));
    }
  }
  return all;
}

}  // namespace hocket

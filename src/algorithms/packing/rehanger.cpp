#include "algorithms/packing/rehanger.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "algorithms/parts/forest.h"
#include "base/assert.h"

namespace hocket {
namespace {

constexpr std::uint32_t kOthersMax = 2;
constexpr std::size_t kUsersMax = 64;  // of a link that are tried when other trees have to change too
constexpr LinkId kNoLink = UINT32_MAX;

}  // namespace

Rehanger::Rehanger(const Topology& topology, const Trees& trees, std::span<const std::uint32_t> roots, Travel travel)
    : topology_(topology),
      reversed_(travel == Travel::kUp),
      ranks_(topology.rank_count()),
      roots_(roots.begin(), roots.end()),
      hooks_(roots.size() * ranks_),
      slot_(topology.links().size()),
      load_(topology.links().size(), 0),
      users_(topology.links().size()),
      banned_(topology.links().size(), false),
      reached_(topology.vertices().size(), 0),
      towards_(topology.vertices().size(), kNoLink),
      full_behind_(topology.vertices().size(), kNoLink) {
  std::iota(slot_.begin(), slot_.end(), 0U);
  if (travel == Travel::kBoth) {
    const std::vector<LinkId> twins = twin_links(topology);
    HOCKET_ASSERT(!twins.empty(), "trees that are used both ways need links in pairs");
    for (LinkId id = 0; id < slot_.size(); ++id) slot_[id] = std::min(id, twins[id]);
  }
  for (std::uint32_t t = 0; t < roots_.size(); ++t) hook({t, roots_[t]}) = {roots_[t], 0, 0};
  for (const TreeEdge& edge : trees.edges) {
    const auto first = static_cast<std::uint32_t>(pool_.size());
    const auto links = std::span(trees.links).subspan(edge.first_link, edge.link_count);
    pool_.insert(pool_.end(), links.begin(), links.end());
    if (reversed_) std::reverse(pool_.begin() + first, pool_.end());
    set_hook({edge.tree, edge.child}, {edge.parent, first, edge.link_count});
  }
}

double Rehanger::most_loaded() const {
  double most = 0;
  for (LinkId id = 0; id < load_.size(); ++id) most = std::max(most, ratio(id));
  return most;
}

bool Rehanger::uses(User user, LinkId slot) const {
  const auto links = path(hook(user));
  return std::any_of(links.begin(), links.end(), [&](LinkId id) { return slot_[id] == slot; });
}

void Rehanger::set_hook(User user, Hook next) {
  for (const LinkId id : path(hook(user))) --load_[slot_[id]];
  hook(user) = next;
  for (const LinkId id : path(next)) {
    ++load_[slot_[id]];
    users_[slot_[id]].push_back(user);
  }
}

std::uint32_t Rehanger::depth_unless_below(std::uint32_t tree, std::uint32_t rank, std::uint32_t above) const {
  std::uint32_t depth = 0;
  for (; rank != roots_[tree]; rank = hook({tree, rank}).parent, ++depth) {
    if (rank == above) return kBelow;
  }
  return depth;
}

bool Rehanger::hang_loose() {
  const double most = most_loaded();
  for (User user{}; user.tree < roots_.size(); ++user.tree) {
    for (user.rank = 0; user.rank < ranks_; ++user.rank) {
      if (user.rank == roots_[user.tree] || hook(user).link_count > 0) continue;
      Hook way;
      LinkId full = kNoLink;
      limit_ = most * (1 + 1e-9);
      bool found = find_way(user, false, way, full);
      limit_ = std::numeric_limits<double>::infinity();
      found = found || find_way(user, false, way, full);
      through_below_ = !found;
      found = found || find_way(user, false, way, full);
      through_below_ = false;
      if (!found) return false;
      set_hook(user, way);
    }
  }
  return true;
}

void Rehanger::even_out(double enough, std::uint64_t work_max) {
  work_max_ = work_max;
  while (work_ < work_max_) {
    const double most = most_loaded();
    if (most <= enough * (1 + 1e-9)) return;
    limit_ = std::max(most * (1 - 1e-9), enough * (1 + 1e-9));
    for (LinkId id = 0; id < load_.size(); ++id) {
      while (slot_[id] == id && ratio(id) >= limit_) {
        std::uint32_t others = 0;
        while (others <= kOthersMax && !relieve(id, others)) ++others;
        if (others > kOthersMax || work_ > work_max_) return;
      }
    }
  }
}

/// Takes one tree off the link, changing up to `others` further trees.
bool Rehanger::relieve(LinkId slot, std::uint32_t others) {
  std::vector<User>& users = users_[slot];
  std::erase_if(users, [&](User user) { return !uses(user, slot); });
  std::sort(users.begin(), users.end(),
            [](User x, User y) { return std::pair(x.tree, x.rank) < std::pair(y.tree, y.rank); });
  users.erase(
      std::unique(users.begin(), users.end(), [](User x, User y) { return x.tree == y.tree && x.rank == y.rank; }),
      users.end());
  work_ += users.size();
  banned_[slot] = true;
  const std::vector<User> candidates(
      users.begin(),
      users.begin() + static_cast<std::ptrdiff_t>(others == 0 ? users.size() : std::min(users.size(), kUsersMax)));
  bool relieved = false;
  for (const User user : candidates) {
    Hook way;
    LinkId full = kNoLink;
    if (!find_way(user, others > 0, way, full)) continue;
    const Hook old = hook(user);
    set_hook(user, way);
    relieved = full == kNoLink || relieve(slot_[full], others - 1);
    if (relieved) break;
    set_hook(user, old);
    if (work_ > work_max_) break;
  }
  banned_[slot] = false;
  return relieved;
}

/// Vertices one link further from the rank.
void Rehanger::look_behind(User user, VertexId v) {
  for (const LinkId id : into(v)) {
    ++work_;
    const VertexId from = tail(id);
    if (reached_[from] == search_ || banned_[slot_[id]] || (full_behind_[v] != kNoLink && !has_room(id))) continue;
    if (topology_.rank_of(from) == static_cast<std::int32_t>(user.rank)) continue;
    if (!has_room(id) && full_behind_[v] == kNoLink) continue;
    reached_[from] = search_;
    towards_[from] = id;
    full_behind_[from] = full_behind_[v];
    queue_.push_back(from);
  }
}

bool Rehanger::find_way(User user, bool one_full, Hook& way, LinkId& full) {
  ++search_;
  const VertexId at = topology_.vertex_of(user.rank);
  reached_[at] = search_;
  full_behind_[at] = kNoLink;
  queue_.assign(1, at);
  std::uint32_t best = kBelow;
  VertexId best_from = at;
  const auto take_best = [&] {
    way = {static_cast<std::uint32_t>(topology_.rank_of(best_from)), static_cast<std::uint32_t>(pool_.size()), 0};
    full = full_behind_[best_from];
    for (VertexId v = best_from; v != at;) {
      const LinkId id = towards_[v];
      pool_.push_back(id);
      ++way.link_count;
      v = reversed_ ? topology_.link(id).from : topology_.link(id).to;
    }
    return true;
  };
  const auto spread = [&](std::size_t first) {
    for (std::size_t i = first; i < queue_.size(); ++i) {
      const VertexId v = queue_[i];
      const std::int32_t rank = topology_.rank_of(v);
      if (v != at && rank >= 0) {
        const std::uint32_t depth = depth_unless_below(user.tree, static_cast<std::uint32_t>(rank), user.rank);
        work_ += depth == kBelow ? 4 : depth;
        if (depth < best) best = depth, best_from = v;
        if (depth != kBelow || !through_below_) continue;
      }
      look_behind(user, v);
    }
  };
  spread(0);
  if (best != kBelow) return take_best();
  if (!one_full) return false;
  // Over one full link from where the others end, then on over links with room.
  const std::size_t with_room = queue_.size();
  for (std::size_t i = 0; i < with_room; ++i) {
    const VertexId v = queue_[i];
    if (v != at && topology_.rank_of(v) >= 0) continue;  // a rank that is below
    for (const LinkId id : into(v)) {
      const VertexId from = tail(id);
      if (reached_[from] == search_ || banned_[slot_[id]] || from == at) continue;
      reached_[from] = search_;
      towards_[from] = id;
      full_behind_[from] = id;
      queue_.push_back(from);
    }
  }
  spread(with_room);
  return best != kBelow && take_best();
}

Trees Rehanger::take_trees() const {
  Trees trees;
  std::vector<std::vector<std::uint32_t>> children(ranks_);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue;  // (rank, depth)
  for (std::uint32_t t = 0; t < roots_.size(); ++t) {
    for (auto& list : children) list.clear();
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (r != roots_[t]) children[hook({t, r}).parent].push_back(r);
    }
    queue.assign(1, {roots_[t], 0});
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [rank, depth] = queue[i];
      for (const std::uint32_t child : children[rank]) {
        queue.emplace_back(child, depth + 1);
        const auto links = path(hook({t, child}));
        trees.add(t, rank, child, depth);
        trees.edges.back().first_link = static_cast<std::uint32_t>(trees.links.size());
        trees.edges.back().link_count = static_cast<std::uint32_t>(links.size());
        trees.links.insert(trees.links.end(), links.begin(), links.end());
        if (reversed_) std::reverse(trees.links.end() - static_cast<std::ptrdiff_t>(links.size()), trees.links.end());
      }
    }
  }
  return trees;
}

}  // namespace hocket

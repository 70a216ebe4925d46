// Rehanger: evens out the load that rooted trees put on links, by hanging vertices of trees on other parents.
// A rank below an overloaded link gets its share from any rank that is not below it, by links that have room, through
// vertices without a rank (they forward and do not copy). Where the only way has one full link, that link is relieved
// in another tree first, up to a small number of trees. Rates may differ and need not be equal both ways. Ownership:
// keeps a reference to the topology; owns the trees. Threading: one owner. Refuses: nothing; trees must span all ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/parts/trees.h"
#include "topology/topology.h"

namespace hocket {

class Rehanger {
 public:
  /// How data travel: from the root, to it, or to it and back (every link and its twin then carry the same).
  enum class Travel : std::uint8_t { kDown, kUp, kBoth };

  /// `roots` has one entry per tree. kBoth needs a twin of equal rate for every link.
  Rehanger(const Topology& topology, const Trees& trees, std::span<const std::uint32_t> roots, Travel travel);

  /// Hangs every child of a loose edge; false when some cannot be.
  [[nodiscard]] bool hang_loose();

  static constexpr std::uint64_t kWorkMax = 40'000'000;
  /// Lowers the largest load per bandwidth until no more can be gained, it is not above `enough`, or `work_max`
  /// vertices and links were visited.
  void even_out(double enough, std::uint64_t work_max = kWorkMax);

  /// Trees on the most loaded link, per bandwidth.
  [[nodiscard]] double most_loaded() const;
  /// The trees with steps by depth.
  [[nodiscard]] Trees take_trees() const;

 private:
  /// How a rank of a tree is reached: the parent and links first_link .. + count of the pool, from parent to child.
  struct Hook {
    std::uint32_t parent = 0;
    std::uint32_t first_link = 0;
    std::uint32_t link_count = 0;
  };
  struct User {
    std::uint32_t tree = 0;
    std::uint32_t rank = 0;
  };

  [[nodiscard]] Hook& hook(User user) { return hooks_[std::size_t{user.tree} * ranks_ + user.rank]; }
  [[nodiscard]] const Hook& hook(User user) const { return hooks_[std::size_t{user.tree} * ranks_ + user.rank]; }
  [[nodiscard]] std::span<const LinkId> path(const Hook& hook) const {
    return std::span(pool_).subspan(hook.first_link, hook.link_count);
  }
  [[nodiscard]] VertexId tail(LinkId id) const { return reversed_ ? topology_.link(id).to : topology_.link(id).from; }
  [[nodiscard]] std::span<const LinkId> into(VertexId v) const {
    return reversed_ ? topology_.outgoing(v) : topology_.incoming(v);
  }
  [[nodiscard]] double ratio(LinkId id) const { return load_[slot_[id]] / topology_.link(id).bandwidth.value; }
  [[nodiscard]] bool has_room(LinkId id) const { return (load_[id] + 1) / topology_.link(id).bandwidth.value < limit_; }
  [[nodiscard]] bool uses(User user, LinkId slot) const;
  /// Depth of a rank in a tree, or kBelow when `above` is on its way to the root.
  [[nodiscard]] std::uint32_t depth_unless_below(std::uint32_t tree, std::uint32_t rank, std::uint32_t above) const;
  void set_hook(User user, Hook hook);
  bool relieve(LinkId slot, std::uint32_t others);
  /// The best other way to reach a rank: links with room and at most one full one, which is not banned.
  bool find_way(User user, bool one_full, Hook& way, LinkId& full);
  void look_behind(User user, VertexId v);

  static constexpr std::uint32_t kBelow = UINT32_MAX;

  const Topology& topology_;
  bool reversed_;
  std::uint32_t ranks_;
  std::vector<std::uint32_t> roots_;
  std::vector<Hook> hooks_;  // tree * ranks + rank
  std::vector<LinkId> pool_;
  std::vector<LinkId> slot_;              // per link: where its load is counted
  std::vector<double> load_;              // trees per slot
  std::vector<std::vector<User>> users_;  // per slot; may hold some that use it no longer
  double limit_ = 0;                      // loads per bandwidth stay below
  bool through_below_ = false;            // ranks below the one that is hung may forward to it
  std::vector<bool> banned_;              // per slot: not to be used by the search that is going on
  // One search: vertices reached, the link towards the rank, whether a full link lies on the way.
  std::vector<std::uint32_t> reached_;
  std::vector<LinkId> towards_;
  std::vector<LinkId> full_behind_;
  std::vector<VertexId> queue_;
  std::uint32_t search_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t work_max_ = kWorkMax;
};

}  // namespace hocket

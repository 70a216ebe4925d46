// Grower: one run of MultiTree's construction under one set of rules. See forest.h for what it is for.
// Each tree in turn gets one attachment, the first root rotates, and what no free link can serve waits for the next
// time at which a link becomes free or a rank receives its share. Threading: one owner. Refuses: nothing; grow() says
// false when some tree cannot be completed under the rules.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "algorithms/parts/trees.h"
#include "topology/topology.h"

namespace hocket {

/// The topology as trees grow over it: possibly reversed, fastest links of a vertex first.
struct GrowthNetwork {
  struct Hop {
    VertexId to = 0;
    LinkId link = 0;
  };
  const Topology* topology = nullptr;
  bool reversed = false;
  bool has_switches = false;         // or other vertices that are not ranks
  std::vector<std::int64_t> ticks;   // per link: time of one share
  std::vector<std::uint32_t> begin;  // per vertex, into hops
  std::vector<Hop> hops;
  std::vector<bool> leaf;  // a vertex without rank that has a rank next to it

  [[nodiscard]] std::span<const Hop> outgoing(VertexId v) const {
    return std::span<const Hop>(hops).subspan(begin[v], begin[v + 1] - begin[v]);
  }
};

[[nodiscard]] GrowthNetwork make_growth_network(const Topology& topology, bool reversed);

struct GrowthRules {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  /// Vertices joined by links of at most this many ticks form a cluster, which a tree enters from outside once only.
  std::int64_t enter_once_above = kNever;
  /// Links of more ticks are not used at all.
  std::int64_t avoid_above = kNever;
  /// Where a search starts among a switch's links: 0 at the first, 1 by root, 2 by sender, 3 by time.
  std::uint32_t spread = 0;
};

class Grower {
 public:
  Grower(const GrowthNetwork& network, const GrowthRules& rules, std::span<const std::uint32_t> roots);

  [[nodiscard]] bool grow();
  [[nodiscard]] std::int64_t finish() const { return finish_; }
  [[nodiscard]] Trees take_trees() && { return std::move(trees_); }

 private:
  struct Member {
    std::uint32_t rank = 0;
    std::int64_t ready = 0;
  };
  struct Tree {
    std::uint32_t root = 0;
    std::uint32_t missing = 0;
    std::size_t cursor = 0;
    std::vector<Member> members;  // that may still feed others, oldest first
    std::vector<bool> has;        // per rank
    std::vector<bool> entered;    // per cluster
  };

  void find_clusters();
  /// One time: turns of all incomplete trees until none can attach. Returns whether anything was attached.
  bool run_turns();
  [[nodiscard]] bool attach_one(std::uint32_t tree);
  [[nodiscard]] bool find_child(const Tree& tree, VertexId from, bool slow, std::uint32_t depth);
  [[nodiscard]] bool accepts(const Tree& tree, VertexId vertex, bool slow) const;
  [[nodiscard]] bool free(LinkId link) const {
    return next_free_[link] <= now_ && network_.ticks[link] <= rules_.avoid_above;
  }
  [[nodiscard]] bool exhausted(const Tree& tree, std::uint32_t rank) const;
  void take(std::uint32_t tree, std::uint32_t parent);
  void add_event(std::int64_t time);
  [[nodiscard]] std::size_t first_hop(std::size_t degree) const;

  const GrowthNetwork& network_;
  const Topology& topology_;
  GrowthRules rules_;
  std::vector<Tree> growing_;
  std::vector<std::uint32_t> cluster_;  // per vertex
  std::vector<std::int64_t> next_free_;
  std::vector<std::uint32_t> visited_;  // per vertex, number of the search
  std::uint32_t search_ = 0;
  std::vector<LinkId> path_;
  std::uint32_t child_ = 0;
  std::uint32_t turn_tree_ = 0;
  std::uint32_t turn_rank_ = 0;
  std::set<std::int64_t> events_;
  std::int64_t last_event_ = -1;
  std::int64_t now_ = 0;
  std::int64_t finish_ = 0;
  std::uint32_t step_ = 0;
  std::vector<std::uint32_t> incomplete_;
  bool through_leaves_ = false;
  Trees trees_;
};

}  // namespace hocket

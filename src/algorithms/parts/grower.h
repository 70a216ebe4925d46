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
  bool has_switches = false;          // or other vertices that are not ranks
  std::vector<std::int64_t> ticks;    // per link: time of one share
  std::vector<std::uint32_t> begin;   // per vertex, into hops
  std::vector<std::uint32_t> middle;  // per vertex: hops to ranks lie before, others from here
  std::vector<Hop> hops;
  std::vector<std::uint32_t> arrival;  // per link: its number among the links of its kind that enter the vertex
  std::vector<bool> leaf;              // a vertex without rank that has a rank next to it
  std::vector<VertexId> end;  // the rank's vertex behind one that leads there and to one other only, else itself
  std::vector<std::uint32_t> number;  // of vertices without rank that are no such ends, from 0
  std::uint32_t numbers = 0;

  [[nodiscard]] std::span<const Hop> to_ranks(VertexId v) const {
    return std::span<const Hop>(hops).subspan(begin[v], middle[v] - begin[v]);
  }
  [[nodiscard]] std::span<const Hop> to_others(VertexId v) const {
    return std::span<const Hop>(hops).subspan(middle[v], begin[v + 1] - middle[v]);
  }
};

[[nodiscard]] GrowthNetwork make_growth_network(const Topology& topology, bool reversed);

struct GrowthRules {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  /// Vertices joined by links of at most this many ticks form a cluster, which a tree enters from outside once only.
  std::int64_t enter_once_above = kNever;
  /// Links of more ticks are not used at all.
  std::int64_t avoid_above = kNever;
  /// Where a search starts among the links of a vertex. 0: at the first. kAligned: the i-th link in goes to the i-th
  /// out, shifted by the step, so that on full-bisection networks a step is a permutation; roots keep their order.
  /// Beyond: the start of every search and the first root of every turn are mixed from this number, time and place.
  std::uint32_t variation = 0;
  static constexpr std::uint32_t kAligned = 1;
};

class Grower {
 public:
  Grower(const GrowthNetwork& network, const GrowthRules& rules, std::span<const std::uint32_t> roots);

  /// False as well, and early, when the forest would not finish before `before`.
  [[nodiscard]] bool grow(std::int64_t before = GrowthRules::kNever);
  [[nodiscard]] std::int64_t finish() const { return finish_; }
  [[nodiscard]] Trees take_trees() && { return std::move(trees_); }

 private:
  /// The links from a rank to where its ways part: a vertex next to it, or behind others that lead there only.
  struct Way {
    VertexId to = 0;
    bool slow = false;
    bool next_to = true;
    bool to_rank = false;
    std::int64_t free_at = 0;
  };
  struct Member {
    std::uint32_t rank = 0;
    std::int64_t ready = 0;
  };
  struct Tree {
    std::uint32_t root = 0;
    std::uint32_t missing = 0;
    std::size_t cursor = 0;
    std::vector<Member> members;      // that may still feed others, oldest first
    std::vector<char> has;            // per rank
    std::vector<std::uint16_t> open;  // per rank, without switches: links from it to ranks that the tree lacks
    std::vector<bool> entered;        // per cluster
  };

  void find_clusters();
  void find_ways();
  void follow_way(VertexId at, const GrowthNetwork::Hop& hop);
  /// One time: turns of all incomplete trees until none can attach. Returns whether anything was attached.
  bool run_turns();
  [[nodiscard]] bool attach_one(std::uint32_t tree);
  [[nodiscard]] bool find_child(const Tree& tree, VertexId from, bool slow);
  /// False when a search from there must fail at this instant.
  [[nodiscard]] bool may_reach(std::uint32_t rank) const;
  [[nodiscard]] bool accepts(const Tree& tree, VertexId vertex, bool slow) const;
  [[nodiscard]] bool free(LinkId link) const { return next_free_[link] <= now_; }
  void mark_member(Tree& tree, std::uint32_t rank);
  void count_free_hops();
  /// A numbered vertex in a search of the tree whose turn it is: beyond a slow link, and next to the member or further
  /// on.
  [[nodiscard]] std::size_t state_of(VertexId vertex, bool slow, bool first) const {
    const std::size_t place = std::size_t{turn_tree_} * network_.numbers + network_.number[vertex];
    return place * kStates + (slow ? 2 : 0) + (first ? 1 : 0);
  }
  void take(std::uint32_t tree, std::uint32_t parent);
  void add_event(std::int64_t time);
  [[nodiscard]] std::size_t first_hop(std::size_t degree, bool to_ranks) const;
  [[nodiscard]] std::size_t first_turn() const;
  [[nodiscard]] std::size_t mixed(std::uint32_t place) const;

  const GrowthNetwork& network_;
  const Topology& topology_;
  GrowthRules rules_;
  std::vector<Tree> growing_;
  std::vector<std::uint32_t> cluster_;   // per vertex
  std::vector<std::int64_t> next_free_;  // per link; kNever for those that are avoided
  std::vector<std::uint32_t> visited_;   // per vertex, number of the search
  std::uint32_t search_ = 0;
  static constexpr std::size_t kStates = 4;
  static constexpr std::uint32_t kNoWay = UINT32_MAX;
  std::vector<std::uint32_t> failed_;   // by state_of: the instant at which a search through there found nothing
  std::vector<std::size_t> looked_;     // states of the search that is going on
  std::vector<Way> ways_;               // with switches: of every rank that has no other next to it
  std::vector<std::uint32_t> ways_of_;  // per rank, into ways_
  std::vector<std::uint32_t> way_of_;   // per link, kNoWay: of none
  std::uint32_t instant_ = 0;
  std::vector<std::uint32_t> free_hops_;  // per vertex: links leaving it that are free
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

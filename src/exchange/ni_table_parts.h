// What deriving and checking network-interface tables share: the edges of the trees, by flow and rank, and what every
// table has whoever makes it (order, nops).
// Ownership: plain values. Threading: one owner. Refuses nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exchange/ni_table.h"

namespace hocket {

/// The message that takes a flow up to `parent` (reduce) or down from it (gather).
struct NiEdge {
  std::uint32_t parent = kNoParent;
  std::uint32_t step = 0;
  std::uint32_t source = 0;  // what states it: a send op, or an entry of a rank
};

/// One edge per flow and rank, up or down.
class NiEdges {
 public:
  NiEdges(std::size_t flows, std::uint32_t ranks) : ranks_(ranks), edges_(flows * ranks) {}
  [[nodiscard]] NiEdge& at(std::size_t flow, std::uint32_t rank) { return edges_[flow * ranks_ + rank]; }
  [[nodiscard]] const NiEdge& at(std::size_t flow, std::uint32_t rank) const { return edges_[flow * ranks_ + rank]; }
  /// The rank without an edge; kNoParent when there are several or none.
  [[nodiscard]] std::uint32_t root(std::size_t flow) const {
    std::uint32_t found = kNoParent;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (at(flow, rank).parent != kNoParent) continue;
      if (found != kNoParent) return kNoParent;
      found = rank;
    }
    return found;
  }

 private:
  std::uint32_t ranks_;
  std::vector<NiEdge> edges_;
};

/// Sums go up (all_reduce, reduce_scatter, reduce), copies come down (all_reduce, all_gather, broadcast).
[[nodiscard]] inline bool goes_up(CollectiveKind kind) { return reduces(kind); }
[[nodiscard]] inline bool comes_down(CollectiveKind kind) {
  return kind != CollectiveKind::kReduce && kind != CollectiveKind::kReduceScatter;
}

/// A child's sum comes in; flows are added one after another.
void add_arrival(std::vector<NiArrival>& aggregation, std::uint32_t flow, std::uint32_t child, std::uint32_t step);

/// The nops of a table and the order of its entries: what every table has, whoever makes it.
void complete_table(NiTable& table, std::uint32_t steps);

/// The rank that must be the root of a flow; kNoParent: any may.
[[nodiscard]] inline std::uint32_t demanded_root(const Collective& collective, const Division& division,
                                                 const NiFlow& flow) {
  if (is_rooted(collective.kind)) return collective.root;
  return is_blocked(collective.kind) ? flow.piece / division.pieces_per_block : kNoParent;
}

}  // namespace hocket

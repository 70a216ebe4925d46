// Trees: spanning trees of the ranks, and the schedule of a collective that runs over them.
// Every tree carries an equal share of the vector: reduced towards its root along `up`, spread from it along `down`.
// Trees are listed by root where the collective has one block per rank: the i-th share belongs to the i-th tree.
// Threading: plain values. Refuses (assert): trees that send what they have not received.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/builder.h"
#include "topology/topology.h"

namespace hocket {

/// Parent and child and the time step of the transfer when the tree is spread from its root: a child forwards in a
/// later step only. The links of its path lie in Trees::links.
struct TreeEdge {
  std::uint32_t tree = 0;
  std::uint32_t parent = 0;
  std::uint32_t child = 0;
  std::uint32_t step = 0;
  std::uint32_t first_link = 0;
  std::uint32_t link_count = 0;
};

struct Trees {
  std::uint32_t count = 0;
  std::uint32_t steps = 0;
  std::vector<TreeEdge> edges;
  std::vector<LinkId> links;  // in the direction of travel; empty: routes are left open

  void add(std::uint32_t tree, std::uint32_t parent, std::uint32_t child, std::uint32_t step);
};

struct TreePlan {
  const Trees& up;    // used to reduce: edges run from child to parent, last step first
  const Trees& down;  // used to spread
  std::uint32_t pieces_per_tree = 1;
  std::uint32_t channels = 65536;      // tree i sends on channel i modulo this
  const Topology* topology = nullptr;  // what the links refer to
};

/// All kinds but all-to-all.
[[nodiscard]] Result<Schedule> schedule_trees(const Collective& collective, const TreePlan& plan,
                                              std::string_view algorithm);

/// "" or why trees cannot do this kind.
[[nodiscard]] std::string refuse_all_to_all(const Collective& collective);

inline constexpr std::uint32_t kPipelinePieces = 64;  // pieces of a chain that carries the whole vector

}  // namespace hocket

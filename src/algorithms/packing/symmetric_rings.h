// Symmetric rings: the trees of `ring` and `dimension_rings` (algorithms/) for one root in place of all, on networks
// that look the same from every vertex. The vector has a part per dimension; part p is reduced along dimension p first
// and along the others in turn, and spread in the opposite order, round every ring in the direction in which ranks
// count. Edges of a tree of one step and class are one message. On 2x2 vertices, part 0, spreading (root 0):
//     2 3    step 0: 0 -> 2     step 1: 0 -> 1 and 2 -> 3, which is one message for each of all ranks
//     0 1
// Threading: pure function. Refuses: networks whose links do not lead to both neighbours along every dimension.
#pragma once

#include "algorithms/packing/symmetric_tree.h"

namespace hocket {

struct SymmetricRings {
  std::uint32_t steps = 0;          // of one way, up or down
  std::vector<SymmetricTree> up;    // per part; an edge of step s carries sums in step steps - 1 - s
  std::vector<SymmetricTree> down;  // per part
};

[[nodiscard]] Result<SymmetricRings> symmetric_rings(const Translations& translations);

}  // namespace hocket

// Symmetric plans: MultiTree, or rings along every dimension, on networks that look the same from every vertex,
// planned, proved and simulated for one vertex in place of all (symmetric_tree.h, folded.h). The schedule itself is
// never written out, so that thousands of ranks take milliseconds and a few megabytes; what is lost is that nothing can
// be executed or exported. Ownership: plain values. Threading: pure functions. Refuses: networks without that symmetry,
// collectives that trees of all roots do not serve, vectors that do not divide evenly among the ranks.
#pragma once

#include <string_view>

#include "algorithms/packing/symmetric_rings.h"
#include "simulator/folded.h"
#include "verify/plan.h"

namespace hocket {

struct SymmetricPlan {
  std::string_view algorithm;
  SymmetricTree tree;       // multitree
  SymmetricRings rings;     // otherwise
  std::int64_t padded = 0;  // bytes added to the vector so that the shares of rings are equal
  FoldedResult simulated;
  Bytes segment;
  std::uint32_t steps = 0;  // of all phases
  double synthesis_s = 0;   // processor time
  double proof_s = 0;
  double simulation_s = 0;
};

/// `segment` 0: the best of several.
[[nodiscard]] Result<SymmetricPlan> plan_symmetric(const Topology& topology, const BoundCollective& what,
                                                   Bytes segment);

/// `ring` on rings, and for all-reduce `dimension_rings` on grids, in whole messages.
[[nodiscard]] Result<SymmetricPlan> plan_symmetric_rings(const Topology& topology, const BoundCollective& what);

/// What the folded simulator runs, with segments of the given bytes.
[[nodiscard]] FoldedProgram fold(const Topology& topology, const Translations& translations, const SymmetricTree& tree,
                                 const BoundCollective& what, Bytes segment);
/// `share`: bytes of a rank's share of one part.
[[nodiscard]] FoldedProgram fold(const Topology& topology, const Translations& translations,
                                 const SymmetricRings& rings, CollectiveKind kind, Bytes share);

}  // namespace hocket

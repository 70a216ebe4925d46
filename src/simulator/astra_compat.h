// simulate_astra(): a collective by ASTRA-sim's rules on its own networks, so that a difference to our other models is
// modelling and not a mistake. The messages are those of our schedules (one-direction ring in every dimension), run by
// our simulator with AstraRules; a collective is cut into equal chunks, each passes its phases one after another, and a
// dimension serves one chunk at a time in the order in which they come.
//   all_reduce of AxB:  reduce-scatter in A, all-reduce in B over 1/A of the chunk, all-gather in A
// The rules and how they were checked: docs/simulation.md. Ownership: returns values. Threading: pure function.
// Refuses: collectives and dimensions for which no figures of ASTRA-sim could be had, sizes that chunks or ranks cannot
// share equally.
#pragma once

#include <span>
#include <vector>

#include "simulator/simulator.h"
#include "topology/product.h"

namespace hocket {

struct AstraCase {
  std::span<const ProductDimension> dimensions;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes size;  // as BoundCollective counts
  std::uint32_t chunks = 1;
  AstraRules rules;
};

/// What one chunk does in one dimension.
struct AstraPhase {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::size_t dimension = 0;
  Bytes size;
  Picos time;  // alone, the end of the phase included
};

struct AstraResult {
  Picos time;
  std::vector<AstraPhase> phases;
  std::uint64_t events = 0;
};

[[nodiscard]] Result<AstraResult> simulate_astra(const AstraCase& work);

}  // namespace hocket

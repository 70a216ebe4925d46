// Folding: algorithms for a power of two of ranks, used with any number: each rank beyond the largest power of two
// lends its data to a partner and gets the result from it. Threading: pure. Refuses: nothing.
// Ownership: plain values, borrowed for the call. Threading: pure functions.
#pragma once

#include <cstdint>

#include "algorithms/parts/transfers.h"

namespace hocket {

struct Folding {
  explicit Folding(std::uint32_t ranks);

  std::uint32_t core = 1;    // largest power of two not above the ranks
  std::uint32_t extras = 0;  // rank core + i is folded into rank i
};

/// Adds the whole vector of every extra rank to its partner's. Returns the next step.
std::uint32_t fold_in(Transfers& transfers, const Folding& folding);
/// Sends the whole vector back to every extra rank.
void fold_out(Transfers& transfers, const Folding& folding, std::uint32_t step);

}  // namespace hocket

#include "algorithms/parts/folding.h"

#include <bit>

namespace hocket {

Folding::Folding(std::uint32_t ranks) : core(std::bit_floor(ranks)), extras(ranks - std::bit_floor(ranks)) {}

std::uint32_t fold_in(Transfers& transfers, const Folding& folding) {
  for (std::uint32_t i = 0; i < folding.extras; ++i) {
    transfers.reduce(folding.core + i, i, {0, transfers.pieces()}, {.step = 0});
  }
  return folding.extras > 0 ? 1 : 0;
}

void fold_out(Transfers& transfers, const Folding& folding, std::uint32_t step) {
  for (std::uint32_t i = 0; i < folding.extras; ++i) {
    transfers.copy(i, folding.core + i, {0, transfers.pieces()}, {.step = step});
  }
}

}  // namespace hocket

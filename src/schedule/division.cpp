#include "schedule/division.h"

namespace hocket {

std::int64_t Division::offset(std::uint32_t piece, std::int64_t count) const {
  const std::int64_t block_length = count / blocks;
  const std::uint32_t block = piece / pieces_per_block;
  const std::uint32_t inside = piece % pieces_per_block;
  std::uint64_t part = inside;
  std::uint64_t whole = pieces_per_block;
  if (!weights.empty()) {
    part = whole = 0;
    for (std::uint32_t j = 0; j < pieces_per_block; ++j) {
      if (j < inside) part += weights[j];
      whole += weights[j];
    }
  }
  const auto scaled = static_cast<unsigned __int128>(block_length) * part / whole;
  return block * block_length + static_cast<std::int64_t>(scaled);
}

}  // namespace hocket

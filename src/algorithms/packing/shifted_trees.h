// Shifted trees: packings of networks that look the same from every vertex (Translations). A few trees are planned for
// vertex 0, every vertex reached by a shortest way, and which one of its shortest ways is chosen so that the trees use
// every class of links in proportion to its rate; their shifted copies then load all links alike. Work grows with the
// number of vertices, not with its square. Threading: pure functions. Refuses: nothing; nullopt where shortest ways
// leave the links uneven by more than two hundredths.
#pragma once

#include <optional>

#include "algorithms/packing/cables.h"
#include "algorithms/packing/rooted_packing.h"
#include "algorithms/packing/translations.h"

namespace hocket {

/// The same trees for every rank as root; see pack_rooted_trees.
[[nodiscard]] std::optional<RootedPacking> pack_shifted_roots(const Translations& translations, bool reversed,
                                                              std::uint32_t per_root = 0);

struct ShiftedPacking {
  SpanningPacking packing;
  double unevenness = 1;  // load of the fullest cable over that of even ones
};

/// One tree shifted by a subgroup: spanning trees that share the cables of the same topology evenly.
[[nodiscard]] std::optional<ShiftedPacking> pack_shifted_cables(const Translations& translations, const Cables& cables);

}  // namespace hocket

// What a bound says in words: which schedules it holds for, and whether it is known to be reachable.
// The words are part of the claim: "optimal" never without the class of schedules it is meant in (docs/bounds.md).
// Threading: pure functions. Refuses: nothing.
#pragma once

#include <string>
#include <string_view>

#include "bounds/bounds.h"

namespace hocket {

/// "partition into 16 single npus: ...", "cut {0 1} to {2 3}: ...": the limit, led by its rule where it does not say
/// so.
[[nodiscard]] std::string certificate_text(std::string_view rule, std::string_view limit);

/// One or two sentences about the bandwidth part.
[[nodiscard]] std::string statement_of(const Bound& bound, const Topology& topology, const BoundCollective& what);

/// "Separate reduce-scatter then all-gather phases with equal shards need at least ...". Empty when there is nothing to
/// say.
[[nodiscard]] std::string statement_of(const SeparatePhases& phases);

}  // namespace hocket

// Pairs messages: the k-th send from rank a to rank b on a channel meets the k-th receive of b from a on it.
// Threading: pure function. Ends without a partner get kNoOp; the verifier reports them.
// Refuses: nothing; peers were checked by the builder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/op.h"

namespace hocket {

/// `rank_begin` has one entry per rank and the total at its end. Returns one entry per op.
[[nodiscard]] std::vector<OpId> match_messages(std::span<const Op> ops, std::span<const OpId> rank_begin);

}  // namespace hocket

// What the right result is, twice over, both slow, serial and independent of the engine and its kernels.
//   reference_result  the definition of the collective: contributions combined in rank order, no schedule involved
//   interpret         a plan's schedule run op by op in a topological order, unsegmented: the engine's floats, bit for
//   bit
// Ownership: buffers are vectors of bytes, one per rank. Threading: pure functions.
// Refuses: inputs whose number or sizes are not the collective's (an Error naming both).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/collective.h"
#include "verify/plan.h"

namespace hocket {

using RankBytes = std::vector<std::byte>;

/// Elements a rank supplies and receives; 0 where the kind gives a rank nothing (broadcast, reduce: all but the root).
[[nodiscard]] std::int64_t input_count(const BoundCollective& what, std::uint32_t rank);
[[nodiscard]] std::int64_t output_count(const BoundCollective& what, std::uint32_t rank);

/// One output per rank; empty where the rank receives nothing.
[[nodiscard]] Result<std::vector<RankBytes>> reference_result(const BoundCollective& what,
                                                              std::span<const RankBytes> inputs);

/// As above, in the order of the plan's schedule.
[[nodiscard]] Result<std::vector<RankBytes>> interpret(const Plan& plan, std::span<const RankBytes> inputs);

/// target = a (op) b and target = target / divisor for one element: the reference for the kernels too.
void combine_element(const BoundCollective& what, std::byte* target, const std::byte* a, const std::byte* b);
void divide_element(const BoundCollective& what, std::byte* target, std::uint32_t divisor);

}  // namespace hocket

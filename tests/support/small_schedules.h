// Small schedules and inputs for tests of the engine and its transports: one builder per shape of program.
// Ring and tree are what real algorithms do; the others exercise staging, scratch, signals and every op kind.
// Threading: pure functions. Refuses: nothing; a builder that makes a wrong schedule fails the test that proves it.
#pragma once

#include <cstring>
#include <vector>

#include "base/random.h"
#include "engine/reference.h"
#include "schedule/builder.h"
#include "verify/plan.h"

namespace hocket::test {

inline constexpr Buffer kIn = Buffer::kInput;
inline constexpr Buffer kOut = Buffer::kOutput;
inline constexpr Buffer kScratch = Buffer::kScratch;

/// Reduce-scatter then all-gather around a ring, `parts` pieces per step.
Result<Schedule> ring_all_reduce(std::uint32_t ranks, std::uint32_t parts);
/// A binary tree rooted at `root`.
Result<Schedule> tree_broadcast(std::uint32_t ranks, std::uint32_t root);
/// Leaves to root, through scratch and local reduce ops.
Result<Schedule> tree_reduce(std::uint32_t ranks, std::uint32_t root);
/// Everyone to everyone.
Result<Schedule> direct_all_to_all(std::uint32_t ranks);
Result<Schedule> ring_all_gather(std::uint32_t ranks);
Result<Schedule> direct_reduce_scatter(std::uint32_t ranks);
/// Pairs exchange whole buffers through scratch and then overwrite what they sent: needs a FIFO of depth 1.
Result<Schedule> doubling_all_reduce(std::uint32_t ranks);
/// From rank 0 along a line, a piece at a time; each rank takes all of them in at one place, which it sends on and
/// copies before it takes the next: whoever uses that place too early spoils what others are to read.
Result<Schedule> line_broadcast_by_one_place(std::uint32_t ranks);

/// One of the above, chosen by the seed; ranks 1 to 8.
Result<Schedule> random_schedule(Random& random);

/// Small integers as values, so that every order of summing floats gives the same result.
std::vector<RankBytes> small_integer_inputs(const BoundCollective& what, Random& random);
/// Any finite values.
std::vector<RankBytes> rough_inputs(const BoundCollective& what, Random& random);

}  // namespace hocket::test

// Exchange: all-reduce in which, step by step, peers exchange all that they have summed up so far.
// Who meets whom is the caller's choice; it must be mutual, and what meets must be disjoint (the verifier checks).
// Threading: pure functions. Refuses: nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "schedule/builder.h"

namespace hocket {

struct ExchangePlan {
  std::uint32_t parts = 1;  // equal parts of the vector, each with its own peers and channel
  std::uint32_t steps = 0;
  std::function<std::vector<std::uint32_t>(std::uint32_t rank, std::uint32_t part, std::uint32_t step)> peers;
};

[[nodiscard]] Result<Schedule> schedule_exchange(const Collective& collective, const ExchangePlan& plan,
                                                 std::string_view algorithm);

/// Which dimension a part works along in a step, and which of this dimension's steps it is.
struct DimensionStep {
  std::uint32_t dimension = 0;
  std::uint32_t step = 0;
};
/// Takes the dimensions in turns, `first` first, until each has had its number of steps.
[[nodiscard]] std::vector<DimensionStep> take_turns(const std::vector<std::uint32_t>& steps_of_dimension,
                                                    std::uint32_t first);

}  // namespace hocket

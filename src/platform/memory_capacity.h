// Which of some ranks has the least memory on a platform, where npus may differ (exceptions): what a step must fit.
// Ownership: returns values. Threading: pure functions.
// Refuses: nothing; what states no capacity is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "platform/platform.h"

namespace hocket {

struct MemoryCapacity {
  std::uint32_t rank = 0;
  double bytes = 0;
  bool differs = false;  // other ranks have more
};

/// Of `ranks`, the first with the least; nothing where none states its capacity.
[[nodiscard]] std::optional<MemoryCapacity> smallest_memory(const Platform& platform,
                                                            std::span<const std::uint32_t> ranks);
/// Of ranks 0 to `ranks` - 1.
[[nodiscard]] std::optional<MemoryCapacity> smallest_memory(const Platform& platform, std::uint32_t ranks);

}  // namespace hocket

#include "platform/memory_capacity.h"

#include <numeric>
#include <vector>

namespace hocket {

std::optional<MemoryCapacity> smallest_memory(const Platform& platform, std::span<const std::uint32_t> ranks) {
  std::optional<MemoryCapacity> least;
  for (const std::uint32_t rank : ranks) {
    const MaybeFigure& capacity = platform.endpoint_of(rank).memory_capacity;
    if (!capacity) continue;
    const bool differs = least && least->bytes != capacity->value;
    if (!least || capacity->value < least->bytes) least = MemoryCapacity{rank, capacity->value, false};
    least->differs = least->differs || differs;
  }
  return least;
}

std::optional<MemoryCapacity> smallest_memory(const Platform& platform, std::uint32_t ranks) {
  std::vector<std::uint32_t> all(platform.exceptions.empty() ? 1 : ranks);
  std::iota(all.begin(), all.end(), 0U);
  return smallest_memory(platform, all);
}

}  // namespace hocket

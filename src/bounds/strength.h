// The partition that limits all-reduce on networks where every vertex is a rank: it minimises (capacity between the
// parts, both directions) / (2 (parts - 1)), the strength of the graph (Tutte, Nash-Williams). Found by Newton steps;
// each step is Cunningham's greedy with one maximum flow per vertex. Above kStrengthWorkMax (vertices times pairs) only
// single vertices and parts joined by fast links are tried; the result stays a valid bound. Ownership: plain values.
// Threading: pure functions. Refuses: nothing; needs at least two vertices.
#pragma once

#include <cstdint>
#include <vector>

#include "bounds/network.h"

namespace hocket {

inline constexpr std::uint64_t kStrengthWorkMax = std::uint64_t{1} << 23;

struct Partition {
  std::vector<std::uint32_t> part_of;  // by vertex: 0 .. parts-1
  std::uint32_t parts = 0;
  double capacity = 0;  // between different parts, both directions
  std::uint32_t links = 0;
  bool exact = false;  // no worse partition exists
  /// Seconds per byte of an all-reduce that this partition enforces.
  [[nodiscard]] double time_per_byte() const { return parts < 2 ? 0 : 2.0 * (parts - 1) / capacity; }
};

[[nodiscard]] Partition measure_partition(const FlowNetwork& network, std::vector<std::uint32_t> part_of);
[[nodiscard]] Partition worst_partition(const FlowNetwork& network);

}  // namespace hocket

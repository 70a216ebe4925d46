// Grids: the common builder of the ring, line, torus and mesh families, and what every family shares: the reader of
// "AxBxC" size words, npus numbered with dimension 0 fastest, numbered switches.
// Cables are added dimension by dimension, so that the lowest link id is dimension-order routing's choice.
// Threading: pure functions. Refuses: extents of zero, more than 2^22 npus.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/family.h"

namespace hocket {

inline constexpr std::uint64_t kNpusMax = std::uint64_t{1} << 22;

/// Reads "4x4x8" (separator given) into positive numbers; `spec` names the whole for the message.
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_extents(std::string_view text, char separator,
                                                               std::string_view spec);

/// The family's arguments as between `least` and `most` numbers joined by 'x'; their product is at most kNpusMax.
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_sizes(const FamilyRequest& request, std::size_t least,
                                                             std::size_t most);

/// Adds npus named "0", "1", ... with coordinates in `extents` (dimension 0 fastest) and sets the builder's extents.
void add_npus(TopologyBuilder& builder, const std::vector<std::uint32_t>& extents);

/// Adds `count` switches named PREFIX0, PREFIX1, ... and returns the first.
VertexId add_switches(TopologyBuilder& builder, std::string_view prefix, std::uint32_t count);

/// Builds torus or mesh `request.arguments`; per-dimension link rates come from request.links.
[[nodiscard]] Result<Topology> build_grid(const FamilyRequest& request, std::string_view family, bool wrap);

}  // namespace hocket

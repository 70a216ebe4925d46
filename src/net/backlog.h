// Backlog: how much of what a connection is to send may be out of our hands and not yet on the way. Bytes there cannot
// be overtaken by more urgent ones, so on a slow link the backlog is what leaves in a moment; on a fast one it is long
// enough that the link never waits for us.
// Ownership: none. Threading: pure functions. Refuses: nothing; a system that does not know the rate keeps the most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/descriptor.h"

namespace hocket {

/// Bytes that the system holds unsent.
inline constexpr std::size_t kBacklogMin = std::size_t{8} << 10;
inline constexpr std::size_t kBacklogMax = std::size_t{32} << 10;

/// What leaves in a millisecond, in these bounds.
[[nodiscard]] inline std::size_t backlog_at(std::uint64_t bytes_per_second) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes_per_second / 1000, kBacklogMin, kBacklogMax));
}

/// Sets it by the rate at which the peer has acknowledged bytes, and says what it is now.
std::size_t fit_backlog(const Descriptor& socket);

/// The peer's system has all that was written; true where ours cannot tell.
[[nodiscard]] bool all_confirmed(const Descriptor& socket);

}  // namespace hocket

// Ranks that are threads of a test, connected with one another by real sockets, each with a TcpRank, a ShmRank or a
// MixedRank of its own; the latter two share mappings.
// Ownership: the ranks. Threading: run_all() gives each rank a thread; everything else is one owner's.
// Refuses: nothing; a system without sockets fails the test.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/rank_driver.h"
#include "transport/rank_transport.h"

namespace hocket::test {

using Ranks = std::vector<std::unique_ptr<RankTransport>>;

/// kRings: memory, where nothing is lent. kMixed: memory among the first half of the ranks and among the others.
enum class Over : std::uint8_t { kTcp, kShm, kRings, kMixed };

[[nodiscard]] Ranks connected_ranks(std::uint32_t ranks, Over over = Over::kTcp);

/// Calls `body(rank)` on a thread per rank and waits for all.
void run_all(std::uint32_t ranks, const std::function<void(std::uint32_t)>& body);

/// Every rank leaves on a thread of its own: one that leaves waits for the others.
void leave_all(Ranks ranks);

}  // namespace hocket::test

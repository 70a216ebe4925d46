// Ranks that are threads of a test, connected with one another by real sockets, each with a TcpRank of its own.
// Ownership: the ranks. Threading: run_all() gives each rank a thread; everything else is one owner's.
// Refuses: nothing; a system without sockets fails the test.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/rank_driver.h"
#include "transport/tcp/tcp_rank.h"

namespace hocket::test {

[[nodiscard]] std::vector<std::unique_ptr<TcpRank>> connected_ranks(std::uint32_t ranks);

/// Calls `body(rank)` on a thread per rank and waits for all.
void run_all(std::uint32_t ranks, const std::function<void(std::uint32_t)>& body);

/// Every rank leaves on a thread of its own: one that leaves waits for the others.
void leave_all(std::vector<std::unique_ptr<TcpRank>> ranks);

}  // namespace hocket::test

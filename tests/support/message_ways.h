// Ways that messages between two ranks may take, and runs that are checked against them: ranks forked from the test
// that say under HOCKET_DEBUG which way each pair has really taken. So a test that means memory fails when a pair goes
// over TCP. Ownership: values. Threading: as forked_ranks.h.
// Refuses: nothing; another way than the one wanted, or a run in which no pair says any, is an expectation of the test.
#pragma once

#include "support/forked_ranks.h"

namespace hocket::test {

struct MessageWay {
  const char* name;
  const char* transport;
  const char* hosts;  // HOCKET_HOSTID, a word for each rank; empty: all on this one
};

/// Memory, TCP, and four ranks of which two are on each of two hosts.
inline constexpr MessageWay kMemoryWay{"shm", "shm", ""};
inline constexpr MessageWay kTcpWay{"tcp", "tcp", ""};
inline constexpr MessageWay kMixedWay{"mixed", "auto", "a,a,b,b"};

struct HeardRun {
  std::vector<RankEnd> ends;
  std::vector<std::string> logs;  // by rank: what it said on standard error
};

/// As run_forked(), with these variables in every rank beside HOCKET_DEBUG=meeting.
[[nodiscard]] HeardRun run_heard(std::uint32_t ranks, const MessageWay& way, const RankBody& body);

/// The same; every pair that has exchanged messages, and one at least, has taken the way that it should.
[[nodiscard]] std::vector<RankEnd> run_on_way(std::uint32_t ranks, const MessageWay& way, const RankBody& body);

}  // namespace hocket::test

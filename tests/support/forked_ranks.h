// Ranks that are processes forked from a test, with the environment a launcher would give them. Each runs `body` and
// says a text, empty when all is well; a rank that does not end in time is killed.
// Ownership: the children. Threading: one owner; the test has no other thread when it forks.
// Refuses: to wait for ever.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace hocket::test {

struct RankEnd {
  int status = -1;  // exit status; -1 when a signal ended it
  int signal = 0;
  std::string said;
};

using RankBody = std::function<std::string(std::uint32_t rank)>;

[[nodiscard]] std::vector<RankEnd> run_forked(std::uint32_t ranks, const RankBody& body,
                                              std::chrono::seconds limit = std::chrono::seconds(60));

/// Descriptors that this process has open.
[[nodiscard]] std::size_t open_descriptors();

}  // namespace hocket::test

// What tests of the interface share: ranks forked from the test, each with a communicator of its own.
// Ownership: nothing. Threading: as forked_ranks.h.
// Refuses: nothing; what a rank says is an expectation of the test.
#pragma once

#include <gtest/gtest.h>

#include "hocket/communicator.h"
#include "support/forked_ranks.h"

/// The error's text is what the rank says.
#define SAY_ERROR(expression)                                        \
  do {                                                               \
    if (auto&& said = (expression); !said) return said.error().text; \
  } while (false)

namespace hocket::test {

inline void expect_well(const std::vector<RankEnd>& ends) {
  for (std::size_t r = 0; r < ends.size(); ++r) {
    EXPECT_EQ(ends[r].said, "") << "rank " << r;
    EXPECT_EQ(ends[r].status, 0) << "rank " << r << " signal " << ends[r].signal;
  }
}

[[nodiscard]] inline Result<Communicator> connect(ProgressMode progress = ProgressMode::kShared) {
  CommunicatorOptions options;
  options.timeout = std::chrono::seconds(20);
  options.progress = progress;
  return Communicator::create(options);
}

}  // namespace hocket::test

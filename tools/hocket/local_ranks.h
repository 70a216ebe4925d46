// Starts the ranks of a job as child processes of this one: the same program with the same arguments, told by variables
// which rank each is. Rank 0 inherits the socket it will listen on, so that no port can be taken in between.
// Ownership: the children; they die with this process (PR_SET_PDEATHSIG) and with its Ctrl-C. Threading: one owner, no
// other thread. Refuses: nothing; returns the worst exit status, 3 for a child that a signal ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hocket {

[[nodiscard]] Result<int> run_local_ranks(std::uint32_t ranks);

/// The command line this process was started with.
[[nodiscard]] std::vector<std::string> own_arguments();

}  // namespace hocket

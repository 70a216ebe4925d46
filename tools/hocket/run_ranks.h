// Executes a plan on real ranks, one process each: this process is one of them, or the parent that starts them.
// Ownership: nothing outlives the call. Threading: one owner.
// Refuses: a job whose size is not the plan's.
#pragma once

#include "rank_job.h"

namespace hocket {

struct RanksRun {
  double time_s = 0;             // of the slowest rank
  std::uint64_t wrong = 0;       // elements, on all ranks
  std::int64_t bytes_moved = 0;  // written to outputs, scratch and copies, on all ranks
  std::uint64_t ops = 0;
};

/// Once to warm up, once timed, then checked. Every rank gets the same answer.
[[nodiscard]] Result<RanksRun> run_on_ranks(const Plan& plan, RankJob& job, std::uint64_t seed);

}  // namespace hocket

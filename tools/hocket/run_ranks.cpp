#include "run_ranks.h"

#include <algorithm>
#include <numeric>

#include "rank_pattern.h"

namespace hocket {
namespace {

Result<double> sum_of(RankJob& job, double mine) {
  HOCKET_TRY_ASSIGN(const std::vector<double> all, job.share(mine));
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

Result<RanksRun> run_on_ranks(const Plan& plan, RankJob& job, std::uint64_t seed) {
  const BoundCollective& what = plan.what();
  if (what.collective.ranks != job.size())
    return fail(Code::kMismatch, "the schedule has {} ranks, the job {}", what.collective.ranks, job.size());
  const RankPattern pattern(what, job.rank(), seed);
  HOCKET_TRY_ASSIGN(const auto arena, RankArena::make(what, job.rank(), false));
  HOCKET_TRY_ASSIGN(const auto driver, RankDriver::create(plan, job.rank(), job.transport(), job.driver_options()));
  pattern.fill_input(arena->input());
  HOCKET_TRY(driver->run(arena->buffers()));
  HOCKET_TRY(job.share(0));
  const auto begin = std::chrono::steady_clock::now();
  HOCKET_TRY(driver->run(arena->buffers()));
  const std::chrono::duration<double> mine = std::chrono::steady_clock::now() - begin;
  HOCKET_TRY_ASSIGN(const std::vector<double> times, job.share(mine.count()));
  RanksRun run;
  run.time_s = *std::max_element(times.begin(), times.end());
  const RankCounters& c = driver->counters();
  HOCKET_TRY_ASSIGN(const double wrong, sum_of(job, static_cast<double>(pattern.count_wrong(arena->output()))));
  HOCKET_TRY_ASSIGN(const double bytes, sum_of(job, static_cast<double>(c.bytes_copied + c.bytes_reduced)));
  HOCKET_TRY_ASSIGN(const double ops, sum_of(job, static_cast<double>(c.ops)));
  run.wrong = static_cast<std::uint64_t>(wrong);
  run.bytes_moved = static_cast<std::int64_t>(bytes);
  run.ops = static_cast<std::uint64_t>(ops);
  return run;
}

}  // namespace hocket

#include "sweep/run_sweep.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "platform/memory_capacity.h"
#include "simulator/step_metrics.h"
#include "sweep/step_case.h"

namespace hocket {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

PointOutcome outcome_of(const StepCase& made) {
  const Result<StepResult> result = made.simulate();
  PointOutcome outcome;
  if (!result) {
    outcome.error = result.error().text;
    return outcome;
  }
  outcome.figures.reserve(step_metrics().size());
  for (const StepMetric& metric : step_metrics()) outcome.figures.push_back(metric.of(*result, made.steps));
  const std::optional<MemoryCapacity> memory = smallest_memory(made.platform, result->ranks);
  outcome.memory_capacity = memory ? memory->bytes : 0;
  return outcome;
}

class SweepRun {
 public:
  SweepRun(const Sweep& sweep, const SweepOptions& options, ResultsFile results)
      : sweep_(sweep), options_(options), results_(std::move(results)) {}

  Result<SweepOutcome> run() {
    HOCKET_TRY(check_points());
    begin("simulating points", pending_.size());
    HOCKET_TRY(work());
    if (options_.rank != 0) return own_outcome();
    HOCKET_TRY(await_others());
    HOCKET_TRY(results_.gather(keys_));
    return all_rows();
  }

 private:
  void begin(std::string step, std::uint64_t total) {
    if (options_.progress == nullptr) return;
    options_.progress->begin(std::move(step));
    options_.progress->expect(total);
  }

  [[nodiscard]] bool is_mine(std::uint64_t point) const { return point % options_.ranks == options_.rank; }

  Result<void> check_points() {
    CaseBuilder builder(sweep_);
    begin("checking points", sweep_.points());
    keys_.reserve(sweep_.points());
    std::set<std::string> seen;
    for (std::uint64_t point = 0; point < sweep_.points(); ++point) {
      HOCKET_TRY_ASSIGN(const StepCase made, builder.make(point));
      HOCKET_TRY_ASSIGN(std::string key, made.key());
      const bool known = results_.find(key) != nullptr;
      reused_ += known ? 1 : 0;
      if (!known && seen.insert(key).second && is_mine(point)) pending_.push_back(point);
      keys_.push_back(std::move(key));
      if (options_.progress != nullptr) options_.progress->set_done(point);
    }
    return {};
  }

  Result<void> work() {
    const auto threads = std::min<std::uint64_t>(std::max(options_.threads, 1U), pending_.size());
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (std::uint64_t i = 0; i < threads; ++i) workers.emplace_back([this] { work_on_points(); });
    workers.clear();  // joins
    return failure_ ? Result<void>(tl::unexpected<Error>(*failure_)) : Result<void>();
  }

  /// One of several threads: takes the next point until there is none, or one of them failed.
  void work_on_points() {
    CaseBuilder builder(sweep_);
    for (;;) {
      std::uint64_t point = 0;
      {
        const std::lock_guard lock(mutex_);
        if (failure_ || next_ == pending_.size()) return;
        point = pending_[next_++];
      }
      Result<StepCase> made = builder.make(point);
      const PointOutcome outcome = made ? outcome_of(*made) : PointOutcome{{}, made.error().text, 0};
      const std::lock_guard lock(mutex_);
      keep(point, outcome);
    }
  }

  void keep(std::uint64_t point, const PointOutcome& outcome) {
    const Result<void> written = results_.append(keys_[point], sweep_.at(point), outcome);
    if (!written && !failure_) failure_ = written.error();
    if (options_.progress != nullptr) options_.progress->set_done(++done_);
  }

  [[nodiscard]] std::vector<std::uint64_t> missing() const {
    std::vector<std::uint64_t> points;
    for (std::uint64_t point = 0; point < keys_.size(); ++point) {
      if (results_.find(keys_[point]) == nullptr) points.push_back(point);
    }
    return points;
  }

  Result<void> await_others() {
    using Clock = std::chrono::steady_clock;
    std::size_t left = missing().size();
    const std::size_t total = left;
    if (left > 0) begin("waiting for other ranks", total);
    Clock::time_point last = Clock::now();
    while (left > 0) {
      std::this_thread::sleep_for(kPoll);
      HOCKET_TRY(results_.refresh());
      const std::size_t now = missing().size();
      if (now < left) last = Clock::now();
      left = now;
      if (options_.progress != nullptr) options_.progress->set_done(total - left);
      if (left > 0 && Clock::now() - last > options_.patience) return late(missing());
    }
    return {};
  }

  [[nodiscard]] Result<void> late(const std::vector<std::uint64_t>& points) const {
    std::set<std::uint64_t> ranks;
    for (const std::uint64_t point : points) ranks.insert(point % options_.ranks);
    return fail(Code::kTimeout, "{}: {} points missing, nothing new for {} ms; ranks {} have them", options_.results,
                points.size(), options_.patience.count(), fmt::join(ranks, ", "));
  }

  [[nodiscard]] SweepOutcome own_outcome() const {
    SweepOutcome outcome{{}, reused_, 0};
    for (std::uint64_t point = 0; point < keys_.size(); ++point) {
      const PointOutcome* found = results_.find(keys_[point]);
      outcome.refused += is_mine(point) && found != nullptr && found->figures.empty() ? 1 : 0;
    }
    return outcome;
  }

  [[nodiscard]] SweepOutcome all_rows() const {
    SweepOutcome outcome{{}, reused_, 0};
    outcome.rows.reserve(keys_.size());
    for (std::uint64_t point = 0; point < keys_.size(); ++point) {
      outcome.rows.push_back({sweep_.at(point), *results_.find(keys_[point])});
      outcome.refused += outcome.rows.back().outcome.figures.empty() ? 1 : 0;
    }
    return outcome;
  }

  const Sweep& sweep_;
  const SweepOptions& options_;
  std::vector<std::string> keys_;       // per point
  std::vector<std::uint64_t> pending_;  // of this rank
  std::uint64_t reused_ = 0;
  std::mutex mutex_;  // guards what follows while threads run
  ResultsFile results_;
  std::size_t next_ = 0;
  std::uint64_t done_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Result<SweepOutcome> run_sweep(const Sweep& sweep, const SweepOptions& options) {
  HOCKET_TRY_ASSIGN(ResultsFile results, ResultsFile::open(options.results, options.rank));
  return SweepRun(sweep, options, std::move(results)).run();
}

}  // namespace hocket

#include "engine/executor.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

namespace hocket {
namespace {

constexpr std::uint64_t kStop = ~std::uint64_t{0};
/// Steps of one rank before the worker looks at its next one.
constexpr int kStepsPerTurn = 8;
/// Turns between two looks at the clock while there is work.
constexpr std::uint32_t kTurnsPerClock = 64;
/// A worker without a run looks up this often although it is woken for each.
constexpr std::chrono::seconds kIdleSlice{1};

void pin_to(std::uint32_t index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::uint32_t left = index % static_cast<std::uint32_t>(std::max(CPU_COUNT(&allowed), 1));
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

}  // namespace

struct Executor::Rank {
  Rank(const Plan& plan, std::uint32_t rank, Transport& inner, const ExecuteOptions& options)
      : wrapped(options.wrap ? options.wrap(rank, inner) : nullptr),
        transport(wrapped ? wrapped.get() : &inner),
        run(plan, rank, *transport),
        engine(run.engine()) {}

  std::unique_ptr<Transport> wrapped;
  Transport* transport;
  RankRun run;
  Engine& engine;
};

struct Executor::Worker {
  Parker parker;
  std::vector<std::uint32_t> ranks;
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> finished{0};  // number of the last run
};

Result<std::unique_ptr<Executor>> Executor::create(const Plan& plan, ExecuteOptions options) {
  if (options.timeout.count() <= 0) return fail(Code::kInvalidArgument, "timeout must be above 0");
  try {
    std::unique_ptr<Executor> executor(new Executor(plan, std::move(options)));
    executor->spawn();
    return executor;
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "no memory for {} ranks with {} of scratch each",
                plan.what().collective.ranks, format_bytes(plan.scratch_bytes()));
  } catch (const std::system_error& e) {
    return fail(Code::kResourceExhausted, "no thread for a worker: {}", e.what());
  }
}

Executor::Executor(const Plan& plan, ExecuteOptions options)
    : options_(std::move(options)), schedule_(plan.verified().shared()), world_(*schedule_) {
  const std::uint32_t ranks = schedule_->rank_count();
  std::uint32_t threads = options_.threads == 0 ? std::thread::hardware_concurrency() : options_.threads;
  threads = std::clamp(threads, 1U, ranks);
  for (std::uint32_t i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Worker& worker = *workers_[std::uint64_t{r} * threads / ranks];
    world_.set_parker(r, &worker.parker);
    worker.ranks.push_back(r);
    ranks_.push_back(std::make_unique<Rank>(plan, r, world_.endpoint(r), options_));
  }
}

Executor::~Executor() {
  run_.store(kStop, std::memory_order_seq_cst);
  for (const auto& worker : workers_) worker->parker.wake();
}

void Executor::spawn() {
  for (std::uint32_t i = 1; i < workers_.size(); ++i) {
    threads_.emplace_back([this, i] { serve(*workers_[i], i); });
  }
}

void Executor::serve(Worker& worker, std::uint32_t core) {
  if (options_.pin) pin_to(core);
  std::uint64_t last = 0;
  std::uint32_t spins = 0;
  for (;;) {
    const std::uint64_t now = run_.load(std::memory_order_acquire);
    if (now == kStop) return;
    if (now == last) {
      if (++spins < options_.spins_max) {
        pause_briefly();
        continue;
      }
      worker.parker.park(std::chrono::steady_clock::now() + kIdleSlice,
                         [&] { return run_.load(std::memory_order_seq_cst) != last; });
      continue;
    }
    last = now;
    spins = 0;
    work(worker);
    worker.finished.store(now, std::memory_order_seq_cst);
    workers_.front()->parker.wake();
  }
}

Result<void> Executor::run(std::span<const RankBuffers> buffers) {
  if (buffers.size() != ranks_.size()) {
    return fail(Code::kInvalidArgument, "{} buffers for {} ranks", buffers.size(), ranks_.size());
  }
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) HOCKET_TRY(ranks_[r]->run.bind(buffers[r]));
  started_ = std::chrono::steady_clock::now();
  deadline_ = started_ + options_.timeout;
  run_.fetch_add(1, std::memory_order_seq_cst);
  for (std::size_t i = 1; i < workers_.size(); ++i) workers_[i]->parker.wake();
  work(*workers_.front());
  wait_for_workers();
  elapsed_ = std::chrono::steady_clock::now() - started_;
  if (!world_.failure().set()) return {};
  Error error = world_.failure().error();
  world_.reset();
  return tl::unexpected<Error>(std::move(error));
}

/// Workers keep the deadline themselves; this thread may not leave before the last one stops using the buffers.
void Executor::wait_for_workers() {
  const std::uint64_t now = run_.load(std::memory_order_relaxed);
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    const std::atomic<std::uint64_t>& finished = workers_[i]->finished;
    for (std::uint32_t spins = 0; finished.load(std::memory_order_acquire) != now; ++spins) {
      if (spins < options_.spins_max) {
        pause_briefly();
        continue;
      }
      workers_.front()->parker.park(std::chrono::steady_clock::now() + kIdleSlice,
                                    [&] { return finished.load(std::memory_order_seq_cst) == now; });
    }
  }
}

bool Executor::drive(Rank& rank) {
  bool moved = false;
  for (int i = 0; i < kStepsPerTurn && !rank.engine.done(); ++i) {
    const bool events = rank.transport->poll(rank.engine);
    const bool stepped = rank.engine.step();
    if (!events && !stepped) break;
    moved = true;
  }
  if (rank.engine.error()) world_.report(*rank.engine.error());
  return moved;
}

bool Executor::idle(const Worker& worker) const {
  return std::all_of(worker.ranks.begin(), worker.ranks.end(),
                     [this](std::uint32_t r) { return ranks_[r]->engine.done() || world_.idle(r); });
}

void Executor::work(Worker& worker) {
  for (const std::uint32_t r : worker.ranks) ranks_[r]->run.start();
  std::uint32_t spins = 0;
  std::uint32_t turns = 0;
  for (;;) {
    bool moved = false;
    bool done = true;
    for (const std::uint32_t r : worker.ranks) {
      moved = drive(*ranks_[r]) || moved;
      done = done && ranks_[r]->engine.done();
    }
    if (done || world_.failure().set()) return;
    spins = moved ? 0 : spins + 1;
    if (++turns % kTurnsPerClock == 0 && late()) return time_out(worker);
    if (moved) continue;
    if (spins < options_.spins_max) {
      pause_briefly();
      continue;
    }
    worker.parker.park(deadline_, [&] { return !idle(worker); });
    if (late()) return time_out(worker);
  }
}

void Executor::time_out(const Worker& worker) {
  const auto stuck = std::find_if(worker.ranks.begin(), worker.ranks.end(),
                                  [this](std::uint32_t r) { return !ranks_[r]->engine.done(); });
  if (stuck == worker.ranks.end()) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  const std::chrono::duration<double> limit = options_.timeout;
  world_.report({Code::kTimeout,
                 fmt::format("rank {}: not done after {}, limit {}: {}", *stuck, format_seconds({elapsed.count()}),
                             format_seconds({limit.count()}), ranks_[*stuck]->engine.waits_for())});
}

RunReport Executor::report() const {
  RunReport report;
  report.elapsed = elapsed_;
  for (const auto& rank : ranks_) {
    const RankCounters& c = rank->engine.counters();
    report.ranks.push_back(c);
    report.ops += c.ops;
    report.bytes_moved += c.bytes_copied + c.bytes_reduced;
  }
  return report;
}

void Executor::abort(const std::string& reason) { world_.report({Code::kCancelled, "aborted: " + reason}); }

Result<RunReport> execute(const Plan& plan, std::span<const RankBuffers> buffers, const ExecuteOptions& options) {
  HOCKET_TRY_ASSIGN(const std::unique_ptr<Executor> executor, Executor::create(plan, options));
  HOCKET_TRY(executor->run(buffers));
  return executor->report();
}

}  // namespace hocket

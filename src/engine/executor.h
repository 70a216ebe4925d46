// Executor: runs a plan with every rank in this process, on threads, over single-copy shared memory.
// Built once per plan, run many times; between start and completion nothing is allocated and nothing is locked. The
// caller's thread is the first worker; with more ranks than threads a worker drives several ranks in turn. A worker
// without work spins briefly, then sleeps until it is woken or the deadline comes.
// Ownership: scratch and threads; buffers stay the caller's. Threading: one run() at a time, abort() from any thread.
// Refuses: missing buffers, and waiting beyond the deadline (an Error naming rank, op, peer, elapsed and limit).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/rank_run.h"
#include "transport/inproc.h"

namespace hocket {

struct ExecuteOptions {
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::uint32_t threads = 0;  // 0: one per core, at most one per rank
  bool pin = false;           // each thread but the caller's stays on one core
  std::uint32_t spins_max = 2000;
  /// Tests: puts something between a rank's engine and its transport.
  std::function<std::unique_ptr<Transport>(std::uint32_t rank, Transport& inner)> wrap;
};

struct RunReport {
  std::chrono::nanoseconds elapsed{0};
  std::uint64_t ops = 0;
  std::int64_t bytes_moved = 0;  // written to outputs, scratch and copies
  std::vector<RankCounters> ranks;
};

class Executor {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Executor>> create(const Plan& plan, ExecuteOptions options = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// One entry per rank. An error leaves outputs undefined and the executor usable.
  [[nodiscard]] Result<void> run(std::span<const RankBuffers> buffers);
  /// Of the last run that succeeded.
  [[nodiscard]] RunReport report() const;
  /// Ends the current run, or the next one when none is running, with kCancelled.
  void abort(const std::string& reason);

 private:
  struct Rank;
  struct Worker;
  Executor(const Plan& plan, ExecuteOptions options);
  void spawn();
  void serve(Worker& worker, std::uint32_t core);
  void work(Worker& worker);
  bool drive(Rank& rank);
  [[nodiscard]] bool idle(const Worker& worker) const;
  void wait_for_workers();
  void time_out(const Worker& worker);
  [[nodiscard]] bool late() const { return std::chrono::steady_clock::now() >= deadline_; }

  ExecuteOptions options_;
  std::shared_ptr<const Schedule> schedule_;
  InprocWorld world_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SteadyTime started_;
  SteadyTime deadline_;
  std::chrono::nanoseconds elapsed_{0};
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> run_{0};  // number of the run; kStop ends the threads
  std::vector<std::jthread> threads_;
};

/// Builds an executor and runs it once.
[[nodiscard]] Result<RunReport> execute(const Plan& plan, std::span<const RankBuffers> buffers,
                                        const ExecuteOptions& options = {});

}  // namespace hocket

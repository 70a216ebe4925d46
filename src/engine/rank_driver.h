// RankDriver: runs one plan for one rank over any RankTransport, one call after another, on the caller's thread. Spins
// for some tens of microseconds, then sleeps until something comes; between start and completion nothing is allocated.
// The first error of any rank ends the call here too and is the communicator's from then on.
// Ownership: scratch; buffers stay the caller's, the transport outlives it. Threading: one run() at a time on a
// transport, abort() from any thread.
// Refuses: waiting beyond the deadline; an Error names rank, call, op, step, what is known of late ranks, and the
// limit.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/rank_run.h"
#include "engine/spin.h"
#include "transport/rank_transport.h"

namespace hocket {

struct DriverOptions {
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds spin = std::chrono::microseconds(50);
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(500);
};

class RankDriver {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankDriver>> create(const Plan& plan, std::uint32_t rank,
                                                                  RankTransport& transport,
                                                                  const DriverOptions& options = {});

  [[nodiscard]] Result<void> run(const RankBuffers& buffers);
  /// Ends the current run, or the next one when none is running, with kCancelled on all ranks.
  void abort(const std::string& reason);

  [[nodiscard]] const RankCounters& counters() const { return run_.engine().counters(); }

 private:
  RankDriver(const Plan& plan, std::uint32_t rank, RankTransport& transport, const DriverOptions& options)
      : transport_(&transport), options_(options), run_(plan, rank, transport), spin_(options.spin) {}
  [[nodiscard]] Result<void> drive();
  bool step();
  void wait(SteadyTime now);
  void stop_waiting();
  [[nodiscard]] tl::unexpected<Error> stop(Error error);
  [[nodiscard]] std::string position() const;

  RankTransport* transport_;
  DriverOptions options_;
  RankRun run_;
  std::unique_ptr<LoadedProgram> loaded_;
  Failure aborted_;
  SteadyTime started_;
  Spin spin_;
  bool idle_ = false;
  bool slept_ = false;  // in this wait
  SteadyTime idle_since_;
  SteadyTime beat_at_;
};

}  // namespace hocket

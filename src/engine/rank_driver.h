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
#include <optional>
#include <string>
#include <vector>

#include "engine/rank_run.h"
#include "engine/spin.h"
#include "transport/rank_transport.h"

namespace hocket {

/// Hears of calls that wait long, and knows what other ranks wait for where the transport cannot.
class WaitWatcher {
 public:
  virtual ~WaitWatcher() = default;
  /// A call waits for that rank since a heartbeat, or, where DriverOptions say so, since half of its time.
  virtual void waits(std::uint32_t waits_for) = 0;
  /// That call has ended well.
  virtual void waits_no_more() = 0;
  /// Who waits for whom, from this rank on, as far as ranks have said; empty when `waits_for` has said nothing.
  [[nodiscard]] virtual std::string chain(std::uint32_t waits_for) = 0;
};

struct DriverOptions {
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds spin = std::chrono::microseconds(50);
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(500);
  const Failure* stop = nullptr;  // of the whole communicator: ends every call once it is set
  WaitWatcher* watcher = nullptr;
  bool watched_late = false;  // it hears of a wait when half of the call's time has gone
  /// Of messages between two ranks, by rank of their plan: what the user calls it.
  std::vector<std::uint32_t> called{};
  std::string name{};  // of this rank in errors: "rank 2 (host a, pid 17)"; empty: by number
};

/// May a turn sleep when there is nothing to do?
enum class Waiting : std::uint8_t { kNever, kSleeps };

class RankDriver {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankDriver>> create(const Plan& plan, std::uint32_t rank,
                                                                  RankTransport& transport,
                                                                  const DriverOptions& options = {});

  [[nodiscard]] Result<void> run(const RankBuffers& buffers);
  /// run() in parts, for callers that lend their thread now and then. `timeout` 0: that of the options.
  [[nodiscard]] Result<void> start(const RankBuffers& buffers, std::chrono::nanoseconds timeout = {});
  /// Some steps of the call that start() began; true when it is over, then finish() says how it went.
  [[nodiscard]] bool turn(Waiting waiting);
  [[nodiscard]] Result<void> finish();
  /// Ends the current run, or the next one when none is running, with kCancelled on all ranks.
  void abort(const std::string& reason);

  [[nodiscard]] const RankCounters& counters() const { return run_.engine().counters(); }

 private:
  RankDriver(const Plan& plan, std::uint32_t rank, RankTransport& transport, const DriverOptions& options)
      : transport_(&transport), options_(options), run_(plan, rank, transport), spin_(options.spin) {}
  bool step();
  /// True when the call is over: all others have shown their messages.
  bool take_shown();
  bool end(Error error);
  void wait(SteadyTime now);
  void beat(SteadyTime now);
  void look_around(SteadyTime now);
  [[nodiscard]] std::chrono::nanoseconds heartbeat() const;
  void stop_waiting();
  /// Told so by a short spin: then the others need the core to show anything.
  [[nodiscard]] bool shares_core() const { return options_.spin < std::chrono::microseconds(5); }
  [[nodiscard]] std::uint32_t suspect() const;
  [[nodiscard]] std::string position() const;
  [[nodiscard]] std::string position_of_one_shot() const;
  [[nodiscard]] std::string own_name() const;

  RankTransport* transport_;
  DriverOptions options_;
  RankRun run_;
  std::unique_ptr<LoadedProgram> loaded_;
  std::optional<std::size_t> one_shot_;     // length of what this rank shows, where the plan and the transport allow
  std::vector<const std::byte*> messages_;  // by rank, of a one-shot call
  std::uint32_t one_shot_calls_ = 0;
  Failure aborted_;
  std::optional<Error> outcome_;
  SteadyTime started_;
  std::chrono::nanoseconds timeout_{};
  std::uint32_t turns_ = 0;
  Spin spin_;
  bool idle_ = false;
  bool slept_ = false;    // in this wait
  bool watched_ = false;  // the watcher was told that this call waits
  SteadyTime idle_since_;
  SteadyTime beat_at_;
  SteadyTime look_at_;
};

}  // namespace hocket

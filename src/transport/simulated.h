// SimulatedWorld: N ranks on a virtual clock, single-threaded, everything drawn from one seed: tests of real engines.
// Messages are copied into frames. A frame that is lost or damaged is sent again (go back to the first unconfirmed one)
// a bounded number of times; a duplicate is dropped by its sequence number; a rank that stays silent, a reset
// connection, a foreign fingerprint and the deadline are errors, and a rank's first error is told to every other rank.
// The same options and faults give the same event hash. Ownership: the world owns clock, frames and endpoints.
// Threading: one owner. Refuses: waiting for ever; every rank is decided by the virtual deadline.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "base/units.h"
#include "transport/transport.h"

namespace hocket {

struct SimulatedOptions {
  std::uint64_t seed = 1;
  Picos delay_min{1'000'000};    // 1 us
  Picos delay_max{20'000'000};   // 20 us
  Picos turn_max{2'000'000};     // between two turns of a rank with work
  Picos retry{200'000'000};      // until an unconfirmed frame is sent again
  Picos heartbeat{500'000'000};  // of an undecided rank to its peers
  std::uint32_t attempts_max = 12;
  Picos deadline{100'000'000'000};  // 100 ms
  double lose = 0;                  // chances per frame
  double duplicate = 0;
  double corrupt = 0;
  /// Sends end as soon as they are copied, instead of when the receiver has used them.
  bool eager = false;
  /// Planted bug: frames of another plan are taken as if they were ours.
  bool ignore_fingerprints = false;
  /// Planted bug: damaged and repeated frames are taken as they come.
  bool ignore_checks = false;
};

/// kDeath: `rank` falls silent. kReset: the connection with `peer` breaks, both notice. kCut: frames from `rank` to
/// `peer` vanish, nobody notices. kStall: the engine of `rank` gets no turn for `duration`.
enum class FaultKind : std::uint8_t { kDeath, kReset, kCut, kStall };
struct Fault {
  FaultKind kind = FaultKind::kDeath;
  Picos at;
  std::uint32_t rank = 0;
  std::uint32_t peer = 0;
  Picos duration;
};

/// How often each thing happened: what tests call their probes.
struct SimulatedCounts {
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t duplicates_dropped = 0;
  std::uint64_t damaged_dropped = 0;
  std::uint64_t overtakings = 0;  // frames that arrive before an earlier one of another connection
  std::uint64_t gaps = 0;         // frames ahead of a missing one
  std::uint64_t deaths = 0;
  std::uint64_t resets = 0;
  std::uint64_t cuts = 0;
  std::uint64_t stalls = 0;
  std::uint64_t mismatches = 0;  // ranks that saw a foreign fingerprint
  std::uint64_t silences = 0;    // peers given up
  std::uint64_t aborts_received = 0;
  std::uint64_t timeouts = 0;
};

/// What the world calls: the engines.
class SimulatedDriver {
 public:
  enum class Turn : std::uint8_t { kIdle, kBusy, kDone, kFailed };
  /// Polls and works a little.
  virtual Turn turn(std::uint32_t rank) = 0;
  /// For the text of a timeout.
  virtual std::string waits_for(std::uint32_t rank) = 0;

 protected:
  ~SimulatedDriver() = default;
};

/// What a rank's plan says about its messages.
struct SimulatedProgram {
  Fingerprint fingerprint;
  OpId first_op = 0;
  std::vector<MessageEnd> ends;  // one per op of the rank; match kNoOp where it is no message
};

class SimulatedEndpoint;

class SimulatedWorld {
 public:
  SimulatedWorld(std::uint32_t ranks, const SimulatedOptions& options);
  ~SimulatedWorld();
  SimulatedWorld(const SimulatedWorld&) = delete;
  SimulatedWorld& operator=(const SimulatedWorld&) = delete;

  [[nodiscard]] Transport& open(std::uint32_t rank, SimulatedProgram program);
  void inject(const Fault& fault);
  /// Until every rank is done, failed or dead.
  void run(SimulatedDriver& driver);
  /// The engine of `rank` found something wrong: ends the rank and tells the others.
  void fail(std::uint32_t rank, const Error& error);

  [[nodiscard]] bool dead(std::uint32_t rank) const { return ranks_[rank].dead; }
  [[nodiscard]] Picos now() const { return now_; }
  [[nodiscard]] Fingerprint event_hash() const { return hasher_.finish(); }
  [[nodiscard]] const SimulatedCounts& counts() const { return counts_; }

 private:
  friend class SimulatedEndpoint;
  enum class EventKind : std::uint8_t { kFrame, kRetry, kTurn, kFault, kHeartbeat, kDeadline };
  struct Event {
    EventKind kind = EventKind::kTurn;
    std::uint32_t rank = 0;  // where it happens
    std::uint32_t peer = 0;  // frame: sender; retry: receiver; fault: its index
    std::vector<std::byte> wire;
  };
  struct RankState {
    bool decided = false;
    bool dead = false;
    bool turn_due = false;
    Picos stalled_until;
    Picos latest_arrival;  // of what is on its way to it
  };
  struct Link {  // directed
    Picos last_arrival;
    bool cut = false;
    std::uint64_t epoch = 0;
  };

  void schedule(Picos delay, Event event);
  void transmit(std::uint32_t from, std::uint32_t to, const std::vector<std::byte>& wire);
  void put_on_link(std::uint32_t from, std::uint32_t to, std::vector<std::byte> wire);
  void wake(std::uint32_t rank);
  void handle(Event& event, SimulatedDriver& driver);
  void take_turn(std::uint32_t rank, SimulatedDriver& driver);
  void strike(const Fault& fault);
  void drop_frames_between(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] bool undecided() const;
  [[nodiscard]] Link& link(std::uint32_t from, std::uint32_t to) { return links_[from * ranks_.size() + to]; }
  [[nodiscard]] std::int64_t draw(Picos low, Picos high);

  SimulatedOptions options_;
  Random random_;
  Picos now_;
  std::uint64_t order_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, Event> events_;
  std::vector<RankState> ranks_;
  std::vector<Link> links_;
  std::vector<Fault> faults_;
  std::vector<std::unique_ptr<SimulatedEndpoint>> endpoints_;
  Hasher hasher_;
  SimulatedCounts counts_;
};

}  // namespace hocket

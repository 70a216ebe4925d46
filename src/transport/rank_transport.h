// RankTransport: the transport of one rank in a process of its own, for the life of a communicator. Beyond Transport it
// begins and ends calls, says whom it waits for, sleeps, and spreads the first error to all ranks.
// A MessageProgram is what a rank's plan says about its messages; load() prepares for it once, begin() starts a call
// without allocating. Ownership: the communicator. Threading: one owner; interrupt() from any thread.
// Refuses: nothing by waiting; after a failure only that failure is reported.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/queue.h"
#include "schedule/collective.h"
#include "transport/shared_range.h"
#include "transport/transport.h"

namespace hocket {

struct MessageOp {
  enum class Role : std::uint8_t { kNone, kSend, kReceive };
  Role role = Role::kNone;
  MessageEnd end;
  OpId alike = kNoOp;  // of sends of the same bytes to several peers: the next one, round and round
};

struct MessageProgram {
  Fingerprint plan;
  BoundCollective what;
  OpId first_op = 0;
  std::vector<MessageOp> ops;
};

/// What a transport keeps per plan.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
};

class RankTransport : public Transport {
 public:
  [[nodiscard]] virtual Result<std::unique_ptr<LoadedProgram>> load(MessageProgram program) = 0;
  /// The next call; `program` lives until end().
  virtual void begin(LoadedProgram& program) = 0;
  /// Everything offered has left this rank's memory.
  [[nodiscard]] virtual bool flushed() const = 0;
  virtual void end() = 0;

  /// Where ranks can show each other short messages (transport/board.h): the most bytes of one; 0: they cannot.
  [[nodiscard]] virtual std::size_t shown_bytes_max() const { return 0; }
  /// The next call, of a one-shot plan: instead of begin(). `message` is what all others shall see.
  virtual void begin_shown(LoadedProgram& /*program*/, std::span<const std::byte> /*message*/) {}
  /// All others have shown theirs. Everything else that concerns the call comes by poll().
  [[nodiscard]] virtual bool all_shown() { return false; }
  /// What that rank has shown, until the next call.
  [[nodiscard]] virtual const std::byte* shown(std::uint32_t /*rank*/) const { return nullptr; }
  /// A rank that has shown nothing yet in this call.
  [[nodiscard]] virtual std::uint32_t not_shown() const { return 0; }

  /// Sleeps until something may have come, interrupt(), or then.
  virtual void rest(SteadyTime until) = 0;
  virtual void interrupt() = 0;

  /// From now on messages may be sent from this memory without a copy, where the transport can; and no longer. No call
  /// that uses the memory may be on its way.
  [[nodiscard]] virtual Result<void> add_memory(const SharedRange& /*range*/) { return {}; }
  virtual void remove_memory(const SharedRange& /*range*/) {}

  /// Tells all ranks, once; from now on this is the state of the communicator.
  virtual void fail(const Error& error) = 0;
  [[nodiscard]] virtual const std::optional<Error>& failure() const = 0;
  /// No call follows: from now on poll() takes in nothing but what peers say of a failure, and who is lost.
  virtual void listen() {}
  /// That rank has died, or closed its end for good; between calls. False where the transport cannot tell.
  [[nodiscard]] virtual bool has_gone(std::uint32_t /*peer*/) const { return false; }
  /// A sign of life to all ranks: which call this rank is in and which rank it waits for.
  virtual void beat(std::uint32_t waits_for) = 0;
  /// "no progress from rank 2 (host a, pid 17): silent for 4.8 s"; what is known about the ranks behind, and the circle
  /// when ranks wait for each other. `waits_for`: whom this rank waits for. Heard within `silence` nobody is silent.
  [[nodiscard]] virtual std::string late_ranks(std::uint32_t waits_for, std::chrono::nanoseconds silence) const = 0;
  /// "call 7, all_reduce of 1024 f32 sum"
  [[nodiscard]] virtual std::string call_text() const = 0;
};

}  // namespace hocket

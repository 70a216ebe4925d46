// Engine: runs one rank's program. Sans-IO: it is told what arrived and what was acknowledged, does the copying and
// reducing, and tells its transport what it offers; it never waits, never reads a clock, never locks.
// start() .. done() is the steady path: no allocation. Reduction order is the schedule's, so results are the same bits
// every time. Ownership: points to program and transport. Threading: one owner at a time.
// Refuses: events that do not fit the program (an Error, since they may come from a peer).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/program.h"
#include "schedule/frontier.h"

namespace hocket {

/// The memory of one rank during a run.
struct RankMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  std::byte* stage = nullptr;
};

struct RankCounters {
  std::uint64_t segments = 0;  // processed, of every kind of op
  std::uint64_t ops = 0;       // finished
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_copied = 0;   // written without combining
  std::int64_t bytes_reduced = 0;  // written by combining
};

class Engine final : public TransportEvents {
 public:
  Engine(const Program& program, Transport& transport);

  /// Forgets the run before. Buffers stay the caller's and must live until done() or the world has stopped.
  void start(const RankMemory& memory);
  /// One segment of one op (or all offers of one); false when nothing can be done before an event.
  bool step();
  [[nodiscard]] bool done() const { return ops_left_ == 0; }

  /// start() and all steps of a one-shot plan (verify/one_shot.h): what comes before its sends, and what they send.
  [[nodiscard]] const std::byte* begin_one_shot(const RankMemory& memory);
  /// The rest, when all others have sent. `messages`: by rank.
  void finish_one_shot(std::span<const std::byte* const> messages);

  void arrived(OpId receive, std::uint32_t segments) override;
  void acknowledged(OpId send, std::uint32_t segments) override;
  void failed(const Error& error) override;
  [[nodiscard]] std::byte* landing(OpId receive, std::uint32_t segment) override;
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  /// "rank 1 op 3: recv output[0] from rank 0 has finished 12 of 64 segments": an op that waits for a peer, else any.
  [[nodiscard]] std::string waits_for() const;
  /// The same of a message between two ranks, of which one sends: "rank 3 has received 12 of 64 segments from rank 1".
  /// `called`: by rank of the plan, what its user calls it.
  [[nodiscard]] std::string waits_for(std::span<const std::uint32_t> called) const;
  /// That peer, or this rank.
  [[nodiscard]] std::uint32_t suspect() const;
  /// The algorithm's step of that op.
  [[nodiscard]] std::uint32_t waiting_step() const;
  [[nodiscard]] const RankCounters& counters() const { return counters_; }
  [[nodiscard]] const Program& program() const { return *program_; }

 private:
  [[nodiscard]] OpId waiting_op() const;
  [[nodiscard]] bool check(OpId id, bool receives, std::uint32_t room, std::uint32_t segments);
  void touch(OpId id);
  void finish(OpId id, std::uint32_t segments);
  void run(const ProgramOp& op, std::uint32_t startable);
  void run_send(const ProgramOp& op, std::uint32_t segments);
  void bind(const RankMemory& memory);
  void run_local(const ProgramOp& op);
  void run_receive(const ProgramOp& op);
  /// What an op does with a segment: of its own memory, or of a message.
  void move(const ProgramOp& op, std::uint32_t segment);
  void take(const ProgramOp& op, std::uint32_t segment, const std::byte* message);
  void complete(const ProgramOp& op, std::byte* target, std::int64_t bytes);
  [[nodiscard]] const std::byte* source(const Place& place) const {
    return readable_[static_cast<std::size_t>(place.buffer)] + place.offset;
  }
  [[nodiscard]] std::byte* target(const Place& place) const {
    return writable_[static_cast<std::size_t>(place.buffer)] + place.offset;
  }

  const Program* program_;
  Transport* transport_;
  Frontier<> frontier_;
  CombineKernel combine_;
  ScaleKernel scale_;
  CopyKernel copy_;
  std::array<const std::byte*, 3> readable_{};
  std::array<std::byte*, 3> writable_{};
  std::byte* stage_ = nullptr;
  /// Ops that may run, a ring; each is listed at most once.
  std::vector<OpId> ready_;
  std::vector<bool> listed_;
  std::size_t ready_head_ = 0;
  std::size_t ready_size_ = 0;
  std::size_t ops_left_ = 0;
  std::size_t leading_ = 0;  // copies at the beginning of a one-shot plan
  RankCounters counters_;
  std::optional<Error> error_;
};

}  // namespace hocket

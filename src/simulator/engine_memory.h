// EngineMemory: the SRAM of one rank's collectives engine, cut into a partition per phase of the algorithms that run
// and a terminal one, and the state machines bound to these phases (docs/simulation.md). A chunk holds room in the
// partition of its phase from before it enters until the next one has room for it. A partition always holds one chunk,
// however large; what chunks hold beyond a new cut they keep until they are through. Chunks enter each phase in the
// order in which they were admitted, whoever is ready first: all ranks admit in one order, so the oldest chunk finds
// room and a machine on each of them, and ranks never hold machines for different chunks that wait for one another.
// Results leave in the order in which they are ready. Ownership: EngineCuts borrows shapes and is shared by the ranks
// of a run; EngineMemory owns its queues. Threading: one owner. Refuses (make): fewer machines than phases, memory that
// cannot hold a chunk of every phase.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "simulator/step_plans.h"

namespace hocket {

/// How an engine is cut up; the terminal partition is the last one.
struct EngineCut {
  std::vector<std::int64_t> partitions;  // bytes
  std::vector<std::uint32_t> machines;   // per partition but the terminal one
};

class EngineCuts {
 public:
  /// `algorithms`: the largest shape of each.
  [[nodiscard]] static Result<EngineCuts> make(const CommunicationEngine& engine,
                                               std::vector<const ChunkShape*> algorithms, PartitionRule rule);

  /// The partition of an algorithm's first phase.
  [[nodiscard]] std::uint32_t first(std::uint32_t algorithm) const { return first_[algorithm]; }
  [[nodiscard]] std::uint32_t algorithms() const { return static_cast<std::uint32_t>(shapes_.size()); }
  [[nodiscard]] std::uint32_t terminal() const { return first_.back(); }
  /// What one chunk of it holds at most in its first phase.
  [[nodiscard]] std::int64_t first_held(std::uint32_t algorithm) const { return shapes_[algorithm]->held[0]; }

  /// Sets of algorithms, by number.
  using Running = std::vector<bool>;
  /// Machines and memory suffice for a chunk in every phase of all of them.
  [[nodiscard]] bool fits(const Running& running) const;
  /// For algorithms that fit.
  [[nodiscard]] const EngineCut& of(const Running& running);

 private:
  EngineCuts(const CommunicationEngine& engine, std::vector<const ChunkShape*> algorithms, PartitionRule rule);
  [[nodiscard]] EngineCut cut(const Running& running) const;

  std::vector<const ChunkShape*> shapes_;
  std::uint32_t machines_;
  double sram_;
  PartitionRule rule_;
  std::vector<std::uint32_t> first_;  // per algorithm, then the terminal partition
  std::map<Running, EngineCut> cuts_;
};

/// An algorithm runs on a rank while chunks of it are there; one that does not fit beside the others waits until they
/// have ended.
class EngineMemory {
 public:
  explicit EngineMemory(EngineCuts& cuts)
      : cuts_(&cuts),
        chunks_(cuts.algorithms(), 0),
        running_(cuts.algorithms(), false),
        used_(cuts.terminal() + 1, 0),
        working_(cuts.terminal(), 0),
        turns_(cuts.terminal()),
        ready_(cuts.terminal() + 1) {}

  [[nodiscard]] std::uint32_t terminal() const { return cuts_->terminal(); }
  [[nodiscard]] std::uint32_t first(std::uint32_t algorithm) const { return cuts_->first(algorithm); }
  [[nodiscard]] bool has_room(std::uint32_t partition, std::int64_t bytes) const {
    return used_[partition] == 0 || used_[partition] + bytes <= cut_->partitions[partition];
  }
  void give(std::uint32_t partition, std::int64_t bytes) { used_[partition] -= bytes; }
  [[nodiscard]] bool has_machine(std::uint32_t partition) const {
    return working_[partition] < cut_->machines[partition];
  }
  void take_machine(std::uint32_t partition) { ++working_[partition]; }
  void give_machine(std::uint32_t partition) { --working_[partition]; }

  /// Whether a chunk of the algorithm, however large, may be admitted.
  [[nodiscard]] bool admits(std::uint32_t algorithm) const;
  /// A chunk has room in the first phase of its algorithm; chunks in one order on all ranks.
  void admit(std::uint32_t chunk, std::uint32_t algorithm, std::int64_t bytes);
  /// It has left the terminal partition.
  void end(std::uint32_t algorithm);
  /// It is done with the phase before and wants into this partition.
  void wait_for_room(std::uint32_t chunk, std::uint32_t partition) { ready_[partition].push_back(chunk); }
  /// The chunk whose turn it is to enter the partition, if it waits for that.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t partition) const;
  /// That chunk takes its room.
  void enter(std::uint32_t partition, std::int64_t bytes);

 private:
  EngineCuts* cuts_;
  const EngineCut* cut_ = nullptr;     // of what runs
  std::vector<std::uint32_t> chunks_;  // per algorithm: admitted and not ended
  EngineCuts::Running running_;
  std::vector<std::int64_t> used_;
  std::vector<std::uint32_t> working_;            // machines
  std::vector<std::deque<std::uint32_t>> turns_;  // per phase: chunks that have not entered it
  std::vector<std::deque<std::uint32_t>> ready_;  // per partition: chunks that wait for room
};

}  // namespace hocket

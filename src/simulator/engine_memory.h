// EngineMemory: the SRAM of one rank's collectives engine, cut into a partition per phase and a terminal one, and the
// state machines bound to the phases. A chunk holds room in the partition of its phase from before it enters until the
// next one has room for it; a machine takes it through the phase. A partition always holds one chunk, however large.
// Chunks enter each phase in the order in which they were admitted, whoever is ready first: all ranks admit in one
// order, so the oldest chunk finds room and a machine on each of them, and ranks never hold machines for different
// chunks that wait for one another. Results leave in the order in which they are ready. Ownership: owns its queues.
// Threading: one owner.
// Refuses (plan_engine): fewer machines than phases, memory that cannot hold a chunk of every phase.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "simulator/step_plans.h"

namespace hocket {

/// How an engine is cut up for the phases of a shape; the terminal partition is the last one.
struct EngineLayout {
  std::vector<std::int64_t> partitions;  // phases + 1, bytes
  std::vector<std::uint32_t> machines;   // per phase
};

[[nodiscard]] Result<EngineLayout> plan_engine(const CommunicationEngine& engine, const ChunkShape& shape,
                                               PartitionRule rule);

class EngineMemory {
 public:
  explicit EngineMemory(const EngineLayout& layout)
      : layout_(&layout),
        used_(layout.partitions.size(), 0),
        free_machines_(layout.machines),
        turns_(layout.machines.size()),
        ready_(layout.partitions.size()) {}

  [[nodiscard]] std::uint32_t terminal() const { return static_cast<std::uint32_t>(used_.size() - 1); }
  [[nodiscard]] bool has_room(std::uint32_t partition, std::int64_t bytes) const {
    return used_[partition] == 0 || used_[partition] + bytes <= layout_->partitions[partition];
  }
  void give(std::uint32_t partition, std::int64_t bytes) { used_[partition] -= bytes; }
  [[nodiscard]] bool has_machine(std::uint32_t phase) const { return free_machines_[phase] > 0; }
  void take_machine(std::uint32_t phase) { --free_machines_[phase]; }
  void give_machine(std::uint32_t phase) { ++free_machines_[phase]; }

  /// A chunk that will go through `phases` phases has room in the first one; chunks in one order on all ranks.
  void admit(std::uint32_t chunk, std::size_t phases, std::int64_t bytes);
  /// It is done with the phase before and wants into this partition.
  void wait_for_room(std::uint32_t chunk, std::uint32_t partition) { ready_[partition].push_back(chunk); }
  /// The chunk whose turn it is to enter the partition, if it waits for that.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t partition) const;
  /// That chunk takes its room.
  void enter(std::uint32_t partition, std::int64_t bytes);

 private:
  const EngineLayout* layout_;
  std::vector<std::int64_t> used_;
  std::vector<std::uint32_t> free_machines_;
  std::vector<std::deque<std::uint32_t>> turns_;  // per phase: chunks that have not entered it
  std::vector<std::deque<std::uint32_t>> ready_;  // per partition: chunks that wait for room
};

}  // namespace hocket

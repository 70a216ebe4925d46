// EngineMemory: the SRAM of one rank's collectives engine, cut into a partition per phase and a terminal one, and the
// state machines bound to the phases. A chunk holds room in the partition of its phase from before it enters until the
// next one has room for it; a machine takes it through the phase. A partition always holds one chunk, however large.
// Chunks wait in line, first come first served. Ownership: owns its queues. Threading: one owner.
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
      : layout_(&layout), used_(layout.partitions.size(), 0), free_machines_(layout.machines) {}

  [[nodiscard]] std::uint32_t terminal() const { return static_cast<std::uint32_t>(used_.size() - 1); }
  [[nodiscard]] bool has_room(std::uint32_t partition, std::int64_t bytes) const {
    return used_[partition] == 0 || used_[partition] + bytes <= layout_->partitions[partition];
  }
  void take(std::uint32_t partition, std::int64_t bytes) { used_[partition] += bytes; }
  void give(std::uint32_t partition, std::int64_t bytes) { used_[partition] -= bytes; }
  [[nodiscard]] bool has_machine(std::uint32_t phase) const { return free_machines_[phase] > 0; }
  void take_machine(std::uint32_t phase) { --free_machines_[phase]; }
  void give_machine(std::uint32_t phase) { ++free_machines_[phase]; }

 private:
  const EngineLayout* layout_;
  std::vector<std::int64_t> used_;
  std::vector<std::uint32_t> free_machines_;
};

}  // namespace hocket

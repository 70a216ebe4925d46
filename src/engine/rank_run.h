// RankRun: one rank's program and engine with the memory a run needs: scratch, stage, and a copy of the input where the
// schedule cannot work in place. What every driver of engines has per rank.
// Ownership: all but the caller's buffers and the transport. Threading: one owner at a time.
// Refuses: missing buffers; memory the system does not have comes as std::bad_alloc from the constructor.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace hocket {

/// What one rank supplies and receives. Equal places mean in place. Null is fine where the rank has nothing to do.
struct RankBuffers {
  const void* input = nullptr;
  void* output = nullptr;
};

class RankRun {
 public:
  RankRun(const Plan& plan, std::uint32_t rank, Transport& transport);

  /// Where the next run reads and writes; copies the input when it must.
  [[nodiscard]] Result<void> bind(const RankBuffers& buffers);
  void start() { engine_.start(memory_); }
  [[nodiscard]] const std::byte* start_one_shot() { return engine_.begin_one_shot(memory_); }

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] const Engine& engine() const { return engine_; }

 private:
  using Bytes = std::unique_ptr<std::byte[]>;
  Program program_;
  Engine engine_;
  Bytes scratch_;
  Bytes stage_;
  Bytes aside_;  // the input
  RankMemory memory_;
};

}  // namespace hocket

// Workload: what every rank does in one training step: a graph of compute and collectives. All ranks do the same
// (single program); a step may wait for nodes of the step before it (weights that must have been updated).
// Compute is stated by its operations and memory traffic, so that a platform decides how long it takes, or by a time
// that somebody measured. Ownership: owns its text and nodes. Threading: immutable once made.
// Refuses (validate): cycles, dependencies that do not exist, negative or non-finite amounts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "schedule/collective.h"

namespace hocket {

enum class StepPhase : std::uint8_t { kForward, kInputGradient, kWeightGradient, kUpdate };
[[nodiscard]] std::string_view name_of(StepPhase phase);  // "forward", "input_gradient", ...

using NodeId = std::uint32_t;

struct WorkCompute {
  double flops = 0;
  DataType type = DataType::kF16;
  double memory_bytes = 0;        // read and written
  std::optional<Seconds> stated;  // a time in place of operations and traffic
};

struct WorkCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
  DataType type = DataType::kF32;
};

/// A node is compute or, when `collective` is there, a collective.
struct WorkNode {
  std::string name;
  StepPhase phase = StepPhase::kForward;
  WorkCompute compute;
  std::optional<WorkCollective> collective;
  std::vector<NodeId> after;           // of the same step
  std::vector<NodeId> after_previous;  // of the step before
};

/// Bytes that a rank holds at the fullest moment of a step (workload/memory.h).
struct WorkMemory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  [[nodiscard]] double total() const { return parameters + gradients + optimizer + activations; }
};

struct Workload {
  std::string name;
  std::string source;
  std::vector<WorkNode> nodes;       // compute that is ready runs in this order
  std::optional<WorkMemory> memory;  // where it is known

  /// Bytes of all collectives of a step.
  [[nodiscard]] double collective_bytes() const;
};

[[nodiscard]] Result<void> validate(const Workload& workload);

}  // namespace hocket

// Flags of `hocket sim MODEL --platform P` that say how a built-in model is spread over the ranks
// (workload/parallel.h): --tp, --pp, --ep, --microbatches, --fsdp, --sp. What they leave of the ranks are copies.
// Ownership: values. Threading: one owner. Refuses: numbers below 1; plan_parallel() checks what was asked.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "workload/parallel.h"

namespace hocket {

struct ParallelFlags {
  std::optional<std::uint32_t> tensor, pipeline, expert, microbatches;
  bool shards_weights = false;
  bool splits_sequence = false;

  void declare(CLI::App& app);
  /// The first flag that was given, or empty.
  [[nodiscard]] std::string_view given() const;
  [[nodiscard]] ParallelPlan asked() const;
  /// Refuses what has nothing to act on.
  [[nodiscard]] Result<void> check() const;
};

}  // namespace hocket

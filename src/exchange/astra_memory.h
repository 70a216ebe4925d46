// ASTRA-sim's remote memory JSON: which memory beyond an npu's own there is, and how fast it is reached.
//   {"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100, "remote-mem-bw": 50}     ns and GB/s (10^9)
// Ownership: plain values. Threading: pure functions. Refuses: unknown kinds of memory, rates that are none or missing
// where there is such memory, keys that are almost a known one; other unknown keys are losses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exchange/loss.h"

namespace hocket {

enum class AstraMemoryKind : std::uint8_t { kNone, kPerNpu, kPerNode, kPool };
[[nodiscard]] std::string_view name_of(AstraMemoryKind kind);  // ASTRA-sim's word

struct AstraMemory {
  AstraMemoryKind kind = AstraMemoryKind::kNone;
  std::optional<double> latency_ns;
  std::optional<double> bandwidth_GBps;
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> npus_per_node;
  LossReport losses;
};

[[nodiscard]] bool looks_like_astra_memory(std::string_view text);
[[nodiscard]] Result<AstraMemory> read_astra_memory(std::string_view text, std::string_view file_name);

}  // namespace hocket

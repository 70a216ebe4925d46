// A platform from ASTRA-sim's input: its network YAML, its system JSON and, where there is one, its remote memory JSON.
// Every figure's source names file and key; every key is taken, ignored with the reason, or refused.
// Two engines come of it: `astra`, which takes nothing from compute, as there, and `dma`, which shares the memory.
// Ownership: the result owns all it holds. Threading: pure functions. Refuses: lists of algorithms whose length is not
// the network's (both), a system without memory rate or peak, policies that only a trace's priorities can answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/astra_memory.h"
#include "exchange/astra_network.h"
#include "exchange/astra_system.h"

namespace hocket {

/// What was read, with the names of the files for messages and sources.
struct AstraInput {
  AstraNetwork network;
  std::string network_file;
  AstraSystem system;
  std::string system_file;
  std::optional<AstraMemory> memory;
  std::string memory_file;
};

struct ImportedPlatform {
  Platform platform;
  std::vector<std::string> taken;  // "s.json: line 3: endpoint-delay 10 as engines.astra.reaction"
  LossReport losses;
};

/// The lists of algorithms have an entry for every dimension of the network, or an error with both lengths.
[[nodiscard]] Result<void> check_dimensions(const AstraInput& input);
[[nodiscard]] Result<ImportedPlatform> platform_from_astra(const AstraInput& input);

}  // namespace hocket

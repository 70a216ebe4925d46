// What `hocket sim COLLECTIVE --topo NETWORK.yml --astra-compat SYSTEM.json` does: the collective by ASTRA-sim's rules
// on ASTRA-sim's files, phase by phase, as text or JSON. Nothing of our own models is in the figures.
// Ownership: none. Threading: prints to stdout, one owner. Refuses: what load_astra() and simulate_astra() do, and
// settings of the system file that the rules do not cover.
#pragma once

#include <string>

#include "flags.h"

namespace hocket {

struct AstraFlags {
  std::string collective;
  std::string network;
  std::string system;
  bool json = false;
};

[[nodiscard]] Result<int> simulate_by_astra_rules(const AstraFlags& flags, const CollectiveFlags& amount);

}  // namespace hocket

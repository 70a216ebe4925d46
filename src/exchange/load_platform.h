// One way in for every verb that takes a platform: a preset's words, a platform file, or ASTRA-sim's input, whose
// network stands where the platform would and whose other files stand beside it.
//   {"ace:4x4x4"}     {"mine.yaml"}     {"network.yml", "system.json", "memory.json"}
// Ownership: the result owns all it holds. Threading: pure functions apart from reading the files. Refuses: what the
// readers do, files of another kind (saying which), a network without its system, a system without a network.
#pragma once

#include <string>

#include "exchange/astra_platform.h"

namespace hocket {

struct PlatformFiles {
  std::string platform;       // words, a platform file or an ASTRA-sim network
  std::string system;         // of an ASTRA-sim network; may be empty
  std::string remote_memory;  // likewise
};

/// ASTRA-sim's files, read and compared; `network` and `system` must be there.
[[nodiscard]] Result<AstraInput> load_astra(const PlatformFiles& files);
[[nodiscard]] Result<ImportedPlatform> load_platform(const PlatformFiles& files);

}  // namespace hocket

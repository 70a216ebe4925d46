// What `hocket info fit LOG...` does: a network's latency and bandwidth from logs of nccl-tests, each collective by
// itself and all together, with their errors on sizes that the fit has not seen, as text or JSON; and a platform file
// whose figures say what they were fitted from. Ownership: none. Threading: prints to stdout, one owner.
// Refuses: what load_nccl_log(), fit_network() and load_platform() do, platforms of other numbers of ranks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hocket {

struct FitFlags {
  std::string onto;  // the platform whose network is replaced; empty: no file is written
  std::string file;  // where the platform goes; empty: nowhere
};

[[nodiscard]] Result<int> fit_logs(const std::vector<std::string>& logs, const FitFlags& flags, bool json);

}  // namespace hocket

// Launch: which rank of how many this process is, according to the launcher that started it. Sources in order:
// HOCKET_*, torchrun, Open MPI, PMI (MPICH, Intel MPI, Hydra), Slurm. The first that is there counts, and says so.
// A source below may only agree, or be an outer launcher of fewer processes (torchrun under srun).
// Threading: pure function over a lookup of variables. Refuses: numbers that are none, a rank not below its size, and
// sources that contradict each other (an Error with both).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

struct Launch {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;  // 0: not known
  std::string source;            // "torchrun (RANK, WORLD_SIZE)"
  std::string root;              // where rank 0 listens, host:port; empty: to be found through a private file
  std::string job;               // a name that only the ranks of this job on this host share; HOCKET_JOB if set

  [[nodiscard]] bool one_host() const { return local_size == size || size == 1; }
};

/// The value of a variable, or null.
using Variables = std::function<const char*(const char* name)>;

/// Nothing when no launcher started this process.
[[nodiscard]] Result<std::optional<Launch>> read_launch(const Variables& variables);

/// "node[03-05,9],other" -> "node03".
[[nodiscard]] std::string first_host(std::string_view node_list);

}  // namespace hocket

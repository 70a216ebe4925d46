// Launch: which rank of how many this process is, according to the launcher that started it. Sources in order:
// HOCKET_*, torchrun, Open MPI, PMI (MPICH, Intel MPI, Hydra), Slurm. The first that is whole counts, and says so.
// A source below may only agree, or be an outer launcher of fewer processes (torchrun under srun), which is said too.
// An empty variable is none. Threading: pure function over a lookup of variables. Refuses: numbers that are none, a
// rank not below its size, sources that contradict each other (an Error with both), and half of a source (an Error with
// what is missing) unless one above is whole, or one below is and says the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace hocket {

/// How a root begins that is a file which all ranks can reach.
inline constexpr std::string_view kRootFile = "file:";

struct Launch {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;  // 0: not known
  std::string source;            // "torchrun (RANK, WORLD_SIZE)"
  std::string outer;             // "Slurm (SLURM_PROCID, SLURM_NTASKS), rank 0 of 2": what started the launcher
  std::string root;              // where rank 0 listens, host:port; empty: to be found through a private file
  std::string job;               // a name that only the ranks of this job on this host share; HOCKET_JOB if set
  std::optional<std::uint32_t> launched_as{};  // the launcher's rank, where `rank` is that in a part of its job
  std::string root_name{};                     // who says the root: "HOCKET_ROOT"; empty: the caller
  std::string job_note{};                      // why ranks of one job may not agree on its name; empty: they do

  /// One rank that nobody launched, as `source` says.
  [[nodiscard]] static Launch alone(std::string source) {
    Launch launch;
    launch.source = std::move(source);
    return launch;
  }
  [[nodiscard]] bool one_host() const { return local_size == size || size == 1; }
  /// How we know which rank this is.
  [[nodiscard]] std::string origin() const { return outer.empty() ? source : source + ", inside " + outer; }
};

/// The value of a variable, or null.
using Variables = std::function<const char*(const char* name)>;

/// The variables of this process.
[[nodiscard]] const char* environment(const char* name);

/// Whether half of a foreign launcher's variables is an error, or counts less than what the caller knows.
enum class Halves : std::uint8_t { kRefuse, kPassOver };

/// Nothing when no launcher started this process. HOCKET_ROOT wins over the launcher's root, HOCKET_JOB over its name
/// of the job; both are checked in any case.
[[nodiscard]] Result<std::optional<Launch>> read_launch(const Variables& variables, Halves halves = Halves::kRefuse);

/// HOCKET_ROOT, which wins over the root that stands there. Refuses: words that are no place.
[[nodiscard]] Result<void> read_root(Launch& launch, const Variables& variables);

/// HOCKET_JOB, empty when it is not set. Refuses: names that would be another's when written as a file's.
[[nodiscard]] Result<std::string> read_job(const Variables& variables);

/// The path in a root that is a file. Refuses: roots that end before its name.
[[nodiscard]] Result<std::string> path_of_root(const std::string& root);

/// "node[03-05,9],other" -> "node03".
[[nodiscard]] std::string first_host(std::string_view node_list);

}  // namespace hocket

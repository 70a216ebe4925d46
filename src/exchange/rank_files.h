// rank_files(): the trace of every rank, from a prefix, a folder, one of the files or all of them. A trace is called
// PREFIX.<rank>.et (or .et.gz, .json). Ownership: returns values. Threading: looks at the file system, nothing else.
// Refuses: folders with several prefixes, ranks without a file, files beyond the ranks, files of one rank given twice:
// naming them and the number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace hocket {

struct RankFiles {
  std::vector<std::string> paths;  // by rank
  std::string prefix;              // empty where the names have none in common
};

[[nodiscard]] Result<RankFiles> rank_files(std::span<const std::string> names, std::uint32_t ranks);

}  // namespace hocket

// load_graph(): a workload file of any format known as a task graph, recognised by content; load_chakra(): the traces
// of all ranks. Ownership: returns values. Threading: pure apart from reading the files.
// Refuses: files that are no workload (saying what they are), ranks without a trace and traces without a rank, and what
// the formats' readers refuse.
#pragma once

#include <string>
#include <vector>

#include "exchange/imported_graph.h"

namespace hocket {

inline constexpr std::size_t kWorkloadBytesMax = std::size_t{256} << 20;

struct WorkloadFiles {
  std::vector<std::string> names;  // one file; or traces, or the prefix of PREFIX.<rank>.et
  bool chakra = false;             // they are traces
  std::string groups;              // file of the groups that traces name; empty: PREFIX.groups.json where it is there
  DataType compute = DataType::kF16;
};

[[nodiscard]] Result<ImportedGraph> load_graph(const WorkloadFiles& files, const RankLayout& layout);

}  // namespace hocket

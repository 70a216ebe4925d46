// load_graph(): a workload file of any format known as a task graph, recognised by content.
// Ownership: returns values. Threading: pure apart from reading the file.
// Refuses: files that are no workload (saying what they are), and what the formats' readers refuse.
#pragma once

#include <string>

#include "exchange/imported_graph.h"

namespace hocket {

inline constexpr std::size_t kWorkloadBytesMax = std::size_t{256} << 20;

[[nodiscard]] Result<ImportedGraph> load_graph(const std::string& path, const RankLayout& layout);

}  // namespace hocket

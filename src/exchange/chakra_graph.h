// Chakra execution traces, one per rank, as a task graph and back. Dependencies are kept, both kinds alike. Compute
// with operations runs by roofline, without them for its duration; work of the host beside the endpoint. A collective
// runs in the group its pg_name names: the ranks that the groups file lists, or those that call it; without a name in
// all ranks, or along the dimensions of involved_dim. Durations of collectives are not replayed but simulated. Writing
// states times in picoseconds and data types in attributes of our own beside Chakra's, so that a copy takes the same
// time. Ownership: values own their text. Threading: pure functions. Refuses: node ids that stand twice, collectives of
// unknown kind or without a size, sends of another rank: with file and node.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/chakra.h"
#include "exchange/imported_graph.h"

namespace hocket {

/// The trace of one rank; the rank is its place in the list.
struct RankTrace {
  std::string file;
  ChakraTrace trace;
};

/// Ranks by pg_name, as ASTRA-sim's communicator-group JSON states them.
using ChakraGroups = std::map<std::string, std::vector<std::uint32_t>>;

struct ChakraReading {
  RankLayout layout;
  ChakraGroups groups;
  DataType compute = DataType::kF16;  // of operations whose type the trace does not say
};

[[nodiscard]] Result<ImportedGraph> graph_of(std::span<const RankTrace> traces, const ChakraReading& reading);

/// {"1": [0, 1], ...}; ranks ascending, from 0 to 2^22.
[[nodiscard]] Result<ChakraGroups> read_chakra_groups(std::string_view text, std::string_view file_name);

/// The feeder's JSON twin: {"workload_graph": [{"Id": 0, "Name": ..., "NodeType": 4, ...}]}.
[[nodiscard]] bool looks_like_chakra_json(std::string_view text);
[[nodiscard]] Result<ChakraTrace> read_chakra_json(std::string_view text, std::string_view file_name);

struct ChakraExport {
  std::vector<ChakraTrace> traces;  // per rank
  std::string groups;               // JSON for the groups that the traces name
  LossReport losses;
};
/// Refuses graphs that do not validate.
[[nodiscard]] Result<ChakraExport> export_chakra(const TaskGraph& graph);

}  // namespace hocket

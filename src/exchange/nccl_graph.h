// NcclGraphs: what NCCL_GRAPH_DUMP_FILE holds, the channels NCCL found for rings, trees and NVLS on one machine.
// Order of the GPUs in a channel is the order of the ring, or from the root's side down a chain of a tree.
// Ownership: owns its text. Threading: plain values.
// Refuses: malformed XML (line and column), over 64 graphs, 1,024 channels, 65,536 elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exchange/loss.h"

namespace hocket {

struct NcclGraphs {
  struct Device {
    bool is_gpu = true;
    std::string number;  // attribute dev
    bool operator==(const Device&) const = default;
  };
  struct Graph {
    std::vector<std::pair<std::string, std::string>> attributes;  // id, pattern, speedintra ..., in the file's order
    std::vector<std::vector<Device>> channels;
    bool operator==(const Graph&) const = default;
  };
  std::vector<Graph> graphs;
  LossReport losses;
};

[[nodiscard]] Result<NcclGraphs> read_nccl_graphs(std::string_view text, std::string_view file_name);
[[nodiscard]] std::string write_nccl_graphs(const NcclGraphs& graphs);
/// One line per graph and channel: "ring, 2 channels, 20 GB/s inside, 12 GB/s between nodes", "0 > 3 > 2 > 1".
[[nodiscard]] std::vector<std::string> describe(const NcclGraphs& graphs);

}  // namespace hocket

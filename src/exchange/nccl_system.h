// NcclSystem: what an NCCL or RCCL topology XML holds, before it is asked to be a network one can plan on.
// cpus and PCIe bridges become hosts, GPUs npus, network cards nics, all NVSwitches together one switch (NCCL's view).
// Files without <gpu> elements hold GPU candidates by PCI class; files without classes hold devices of unknown kind.
// Ownership: owns its text. Threading: plain values.
// Refuses: malformed XML (line and column), nesting over 32, over 65,536 elements, over 256 cpus. Ignores what it does
// not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exchange/loss.h"
#include "topology/topology.h"

namespace hocket {

struct NcclSystem {
  struct Cable {
    VertexId from = 0;
    VertexId to = 0;
    BytesPerSecond bandwidth;
    Seconds latency;
    bool both_ways = true;
  };

  std::vector<Vertex> vertices;
  std::vector<Cable> cables;
  std::vector<VertexId> ranks;  // GPUs by rank, device number or place in the file, whichever is stated first
  LossReport losses;
  std::vector<std::string> unknown_devices;  // bus ids of leaves without a class
  std::size_t cpus = 0;
  std::size_t bridges = 0;
  std::size_t nics = 0;
  std::size_t gpu_links = 0;                             // directed, parallel ones counted
  bool gpus_are_candidates = false;                      // by class only
  std::vector<std::vector<std::string>> gpu_components;  // names, joined by GPU links alone
};

[[nodiscard]] Result<NcclSystem> read_nccl_system(std::string_view text, std::string_view file_name);

/// Several lines: what is in the file, its rates, its GPU-link components, what is missing.
[[nodiscard]] std::string describe(const NcclSystem& system);

}  // namespace hocket

// SmiMatrix: the device matrix that `nvidia-smi topo -m` prints, as text read back: labels, cells, affinities.
// Read by tokens against the labels of the header row, so that tabs, runs of spaces, wrapped lines, colours, prompts
// and legends do not matter. Ownership: owns its text. Threading: plain values. Refuses: unknown cell words, missing or
// doubled rows, cells that differ from their mirror image (line and column, or row and column by label), more than 256
// devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exchange/loss.h"

namespace hocket {

/// How far two devices are apart, nearest first.
enum class SmiHop : std::uint8_t { kSelf, kNvlink, kPix, kPxb, kPhb, kNode, kSys };

[[nodiscard]] std::string_view name_of(SmiHop hop);

struct SmiCell {
  SmiHop hop = SmiHop::kSelf;
  std::uint32_t links = 0;  // NVLinks, for kNvlink
  bool operator==(const SmiCell&) const = default;
};

struct SmiDevice {
  std::string name;  // "gpu0", "mlx5_0"
  bool is_gpu = false;
  std::string affinity;  // text that two devices of one NUMA node share; empty: not said
  std::vector<SmiCell> cells;
};

struct SmiMatrix {
  std::vector<SmiDevice> devices;  // in the order of the header
  LossReport losses;
};

/// True when some line is a device label followed by matrix cells with an X among them.
[[nodiscard]] bool looks_like_smi_matrix(std::string_view text);

[[nodiscard]] Result<SmiMatrix> read_smi_matrix(std::string_view text, std::string_view file_name);

}  // namespace hocket

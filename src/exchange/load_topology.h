// One way in for every verb: a topology from a file (format recognised by content) or, when no such file exists, from
// words. The changes of TopologyOptions (--break, --scale, --group, GPU links only) are applied to both. Ownership: the
// result owns everything. Threading: pure functions apart from reading the file. Refuses: files over 64 MiB, folders,
// files that are something else (saying what), everything spec and formats refuse; with Repairs::kRefuse also what a
// reader would have to repair.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/topology_format.h"
#include "topology/spec.h"

namespace hocket {

enum class Repairs : std::uint8_t { kAccept, kRefuse };

[[nodiscard]] Result<Topology> load_topology(std::string_view spec_or_path, const TopologyOptions& options,
                                             Repairs repairs = Repairs::kAccept);

/// The text of a file of at most kTopologyTextMax bytes, unpacked and in UTF-8.
[[nodiscard]] Result<std::string> read_topology_text(const std::string& path);

/// The format that recognises the text, or an error listing the formats known.
[[nodiscard]] Result<const TopologyFormat*> recognise_topology(std::string_view text, std::string_view file_name);

}  // namespace hocket

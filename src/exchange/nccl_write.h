// Writes a topology as NCCL topology XML, within the limits of NCCL's own reader (no <?xml?> line, attributes on one
// line). A network of hosts, nics and npus as hocket reads it from such a file comes back the same. npus without hosts
// (a ring, a switch) get one cpu and placeholder PCIe links, and a comment says so. Threading: pure function. Refuses:
// rates NCCL's tables do not hold, several GPU switches, hosts that are no tree.
#pragma once

#include <string>

#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

[[nodiscard]] Result<std::string> write_nccl_xml(const Topology& topology);

}  // namespace hocket

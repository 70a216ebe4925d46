// hocket topo probe: the topology is measured between real ranks instead of read. Runs under any launcher, or starts
// its ranks itself; rank 0 has the result. Ownership: values. Threading: one owner. Refuses: fewer than two ranks, what
// JobFlags refuses.
#pragma once

#include <optional>

#include "exchange/topology_format.h"
#include "rank_job.h"
#include "topology/topology.h"

namespace hocket {

/// One rank's part, or the parent's of the ranks that it starts.
struct ProbeEnd {
  std::optional<Topology> topology;  // on rank 0
  int status = 0;
};

[[nodiscard]] Result<ProbeEnd> probe_topology(const JobFlags& job);

/// An error when the format has no place for what is measured, whatever the figures will be.
[[nodiscard]] Result<void> check_storable(const TopologyFormat& format);

}  // namespace hocket

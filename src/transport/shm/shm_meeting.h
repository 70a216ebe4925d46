// How the ranks of a job decide who talks through memory: every rank says on which host it is; of each host the lowest
// rank makes a segment and leaves word of it in the job's store, the others map it and say whether that went well, and
// all of the host read what all of them have said; so they decide alike. A host is a kernel, or what HOCKET_HOSTID
// calls one. Ownership: the segment is shared by nobody outside this process. Threading: one owner. Refuses: ranks that
// ask for different transports, and for "shm" a job in which one rank cannot (the Error says which and why); waiting
// beyond the deadline.
#pragma once

#include <optional>
#include <string>

#include "net/rendezvous.h"
#include "transport/shm/shm_segment.h"

namespace hocket {

/// The ranks of this one's host that talk through memory.
struct HostGroup {
  std::vector<std::uint32_t> ranks;  // ascending
  std::shared_ptr<ShmSegment> segment;
};

/// What HOCKET_HOSTID calls the host of that rank, as the launcher counts them.
[[nodiscard]] std::optional<std::string> named_host(std::uint32_t rank);

/// `wish`: "auto" (memory among the ranks of each host), "shm" (all ranks), or another transport's name, for which
/// there is no memory but all must wish the same. Without a segment this rank uses no memory.
[[nodiscard]] Result<HostGroup> meet_in_memory(Job& job, const std::string& wish, SteadyTime deadline);

}  // namespace hocket

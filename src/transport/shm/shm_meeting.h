// How the ranks of a job decide whether they talk through memory: rank 0 makes a segment and leaves word of it in the
// job's store, every rank maps it and says whether that went well, and all read what all have said; so all decide
// alike. Ownership: the segment is shared by nobody outside this process. Threading: one owner. Refuses: ranks that ask
// for different transports, and for "shm" a job in which one rank cannot (the Error says which and why); waiting beyond
// the deadline.
#pragma once

#include "net/rendezvous.h"
#include "transport/shm/shm_segment.h"

namespace hocket {

/// `wish`: "auto" (memory when all ranks are on one host), "shm", or another transport's name, for which there is no
/// memory but all must wish the same. Null when the ranks do not talk through memory.
[[nodiscard]] Result<std::shared_ptr<ShmSegment>> meet_in_memory(Job& job, const std::string& wish,
                                                                 SteadyTime deadline);

}  // namespace hocket

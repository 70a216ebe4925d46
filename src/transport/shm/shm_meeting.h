// How the ranks of a job decide whether they talk through memory: rank 0 makes a segment and leaves word of it in the
// job's store, every rank maps it and says whether that went well, and all read what all have said; so all decide
// alike. Ownership: the segment is shared by nobody outside this process. Threading: one owner. Refuses: ranks that ask
// for different transports, and for kShm a job in which one rank cannot (the Error says which and why); waiting beyond
// the deadline.
#pragma once

#include "net/rendezvous.h"
#include "transport/shm/shm_segment.h"

namespace hocket {

/// What the user asked for; kAuto: memory when all ranks are on one host, else TCP.
enum class TransportWish : std::uint8_t { kAuto, kShm, kTcp };

[[nodiscard]] Result<TransportWish> parse_transport_wish(std::string_view word);

/// Null when the ranks talk over TCP.
[[nodiscard]] Result<std::shared_ptr<ShmSegment>> meet_in_memory(Job& job, TransportWish wish, SteadyTime deadline);

}  // namespace hocket

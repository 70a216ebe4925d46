// open_transport(): how the ranks of a job talk, chosen by all of them alike: memory when every rank is on one host and
// no cable is to be used, else TCP. Each transport has a folder of its own below this one; here is the only place that
// knows them all. Ownership: takes the connections of the job. Threading: one owner. Refuses: unknown names (listing
// those known), memory together with cables, ranks that wish different transports, and a wish for memory that one rank
// cannot have.
#pragma once

#include <memory>

#include "transport/rank_transport.h"
#include "transport/shm/shm_meeting.h"

namespace hocket {

struct TransportChoice {
  TransportWish wish = TransportWish::kAuto;
  /// A file of cables was given; shared memory would not use them.
  bool by_cable = false;
  /// Long messages through memory are read out of the sender's buffer where the kernel permits.
  bool lends = true;
};

struct OpenTransport {
  std::string_view name;  // "shm" or "tcp"
  std::unique_ptr<RankTransport> transport;
};

[[nodiscard]] Result<OpenTransport> open_transport(Job& job, const TransportChoice& choice, SteadyTime deadline);

}  // namespace hocket

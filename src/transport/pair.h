// open_pair(): how two ranks exchange messages over a connection made for that. Where the communicator's ranks of this
// host talk through memory, so do these two, through a segment of their own: the sender makes it and says on the
// connection where it is, the receiver maps it and says whether that went well; so both decide alike, and go on over
// the connection where one of them cannot. Ownership: takes the connection; it stays open as the sign of life.
// Threading: one owner. Refuses: waiting beyond the deadline, or longer than `still` permits; a pair without memory
// where nothing else will do (an Error on both, with the reason).
#pragma once

#include <functional>

#include "net/descriptor.h"
#include "transport/rank_transport.h"
#include "transport/witness.h"

namespace hocket {

struct PairEnds {
  enum class Way : std::uint8_t {
    kTcp,
    kMemory,      // where both can
    kMemoryOnly,  // or not at all
  };
  std::uint32_t rank = 0;          // 0 sends, 1 receives
  std::vector<std::string> names;  // of both, "rank 2 (host a, pid 17)"
  Way way = Way::kTcp;
  bool lends = true;  // as TransportChoice
  std::shared_ptr<Witness> witness{};
};

struct OpenPair {
  std::unique_ptr<RankTransport> transport;
  std::string name;      // "shm" or "tcp"
  std::string obstacle;  // why it is not memory, where that was wanted
};

/// `link`: authenticated, nothing was sent on it. `still`: asked now and then whether waiting makes sense.
[[nodiscard]] Result<OpenPair> open_pair(const PairEnds& ends, Descriptor link, SteadyTime deadline,
                                         const std::function<Result<void>()>& still);

}  // namespace hocket

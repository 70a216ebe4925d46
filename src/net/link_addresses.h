// LinkAddresses: over which pair of addresses two ranks talk, where hosts have an interface per cable: then the
// connection of two ranks lies on the cable that joins them, and a schedule's bytes are that cable's bytes. Text, a
// line per rank and peer, `#` begins a comment:
//     rank peer local remote [rate]        0 1 10.200.0.0 10.200.0.1 50Mb/s
// The k-th line of a pair is its k-th lane (schedule/lanes.h); lanes with the same addresses share a connection.
// Pairs that are not listed meet at the addresses that the rendezvous spreads. All ranks must have the same lines.
// Ownership: plain values. Threading: immutable. Refuses: ranks that are none or beyond the job, addresses that are
// none or of two families, a rate that is none, a cable whose two ends disagree (an Error with the line).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "net/address.h"

namespace hocket {

class LinkAddresses {
 public:
  struct Ends {
    Address local;
    Address remote;
    BytesPerSecond rate{0};  // of the cable towards the peer; 0: not said
  };

  [[nodiscard]] static Result<LinkAddresses> parse(const std::string& text, const std::string& name,
                                                   std::uint32_t ranks);
  [[nodiscard]] bool empty() const { return joints_.empty(); }
  /// Equal where all pairs have the same lines in the same order, rates included, however they were written.
  struct Mark {
    std::uint32_t lines = 0;
    std::uint64_t hash = 0;
    bool operator==(const Mark&) const = default;
    [[nodiscard]] std::string text() const;  // "no cables", "4 lines of cables (1f3a5b2c00112233)"
  };
  [[nodiscard]] Mark mark() const;
  /// What joins `rank` to `peer`.
  struct Joint {
    std::vector<Ends> connections;     // as `rank` sees them; ports are 0
    std::vector<std::uint32_t> lanes;  // the connection of each lane
  };
  /// Null: not listed.
  [[nodiscard]] const Joint* between(std::uint32_t rank, std::uint32_t peer) const;

 private:
  [[nodiscard]] Result<void> check(const std::string& name) const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, Joint> joints_;
};

}  // namespace hocket

// LinkAddresses: over which pair of addresses two ranks talk, where hosts have an interface per cable: then the
// connection of two ranks lies on the cable that joins them, and a schedule's bytes are that cable's bytes. Text, a
// line per rank and peer, `#` begins a comment:
//     rank peer local remote        0 1 10.200.0.0 10.200.0.1
// Pairs that are not listed meet at the addresses that the rendezvous spreads.
// Ownership: plain values. Threading: immutable. Refuses: ranks that are none or beyond the job, addresses that are
// none or of two families, a pair that is listed twice, a cable whose two ends disagree (an Error with the line).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "net/address.h"

namespace hocket {

class LinkAddresses {
 public:
  struct Ends {
    Address local;
    Address remote;
  };

  [[nodiscard]] static Result<LinkAddresses> parse(const std::string& text, const std::string& name,
                                                   std::uint32_t ranks);
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  /// As `rank` sees the cable to `peer`; ports are 0.
  [[nodiscard]] std::optional<Ends> between(std::uint32_t rank, std::uint32_t peer) const;

 private:
  [[nodiscard]] Result<void> check(const std::string& name) const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, Ends> ends_;
};

}  // namespace hocket

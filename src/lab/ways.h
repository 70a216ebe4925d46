// WayBook: the ways that a plan's connections take through a wiring. A connection over one cable uses its addresses;
// one that takes several links, or another way back than there, gets a pair of addresses of its own and a route at
// every vertex, so that the kernel forwards along exactly the links that the plan means. Ways are laid once and kept.
// Ownership: borrows the wiring and the topology. Threading: one owner. Refuses: more ways than there are addresses.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/wiring.h"

namespace hocket {

/// The links of one lane (schedule/lanes.h) from a rank to another.
struct LaneWay {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t lane = 0;
  std::vector<LinkId> links;
};

/// Lines for `ip -batch`, by the vertex in whose namespace they are to be run.
using IpCommands = std::map<VertexId, std::vector<std::string>>;

class WayBook {
 public:
  WayBook(const Topology& topology, const Wiring& wiring) : topology_(&topology), wiring_(&wiring) {}

  struct Laid {
    std::string cables;   // text for net/link_addresses.h
    IpCommands commands;  // that must be run before it holds
  };
  [[nodiscard]] Result<Laid> lay(std::span<const LaneWay> lanes);

 private:
  /// What joins two ranks: a below b, and the hops of both directions.
  struct Way {
    std::uint32_t a, b;
    std::vector<HopId> forth, back;
    auto operator<=>(const Way&) const = default;
  };
  using Addresses = std::pair<std::string, std::string>;  // of a and of b

  [[nodiscard]] std::vector<Way> ways_of(std::span<const LaneWay> lanes) const;
  [[nodiscard]] Result<Addresses> addresses_of(const Way& way, IpCommands& commands);
  /// Of the slowest of them.
  [[nodiscard]] BytesPerSecond rate_of(const std::vector<HopId>& hops) const;
  [[nodiscard]] static std::vector<HopId> turned(const std::vector<HopId>& hops);

  const Topology* topology_;
  const Wiring* wiring_;
  std::map<Way, Addresses> ways_;
};

}  // namespace hocket

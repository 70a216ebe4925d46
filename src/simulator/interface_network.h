// InterfaceNetwork: a topology in which ranks reach their links through a limited number of network interfaces. A rank
// with more links than interfaces moves behind a router of its own, which its links start and end at; each interface is
// a pair of links without latency between the two, as fast as the rank's fastest link. Links keep their numbers.
// Ownership: owns the longer topology. Threading: immutable. Refuses: no interfaces, what
// TopologyBuilder refuses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

class InterfaceNetwork {
 public:
  [[nodiscard]] static Result<InterfaceNetwork> make(const Topology& topology, std::uint32_t count);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// A route of the topology it was made of, with the interfaces at its ends.
  [[nodiscard]] std::vector<LinkId> behind(std::span<const LinkId> route) const;

 private:
  explicit InterfaceNetwork(Topology topology) : topology_(std::move(topology)) {}

  Topology topology_;
  // Per link of the first topology: the interface that messages go out (come in) by; kNoLink where there is none.
  static constexpr LinkId kNoLink = 0xffffffffU;
  std::vector<LinkId> out_;
  std::vector<LinkId> in_;
};

}  // namespace hocket

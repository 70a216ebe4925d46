// Wiring: the cables of a topology as a lab of network namespaces has them. Links between the same two vertices are
// paired, one there and one back, to a cable with a /31 of addresses; each of its ends is a device that sends over one
// of the links. Where a link has no twin the other end gets a device too, over which nothing is planned, only
// acknowledged. Ownership: plain values. Threading: immutable. Refuses: no link at all, more vertices or
// cables than there are addresses for, latencies with which the kernel takes the other end for absent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace hocket {

/// A cable in one direction: twice its number, plus which of its ends sends.
using HopId = std::uint32_t;

struct CableEnd {
  VertexId vertex = 0;
  std::optional<LinkId> link;  // that it sends over; nothing is planned over an end without
  std::string device;          // "l7" sends over link 7, "x3" is the other end of cable 3
  std::string address;
  BytesPerSecond rate;
  Seconds latency;
};

class Wiring {
 public:
  static constexpr std::size_t kVerticesMax = 250;
  static constexpr std::size_t kCablesMax = 128 * 256;
  /// The kernel asks three seconds long who has an address, and a round trip must fit in.
  static constexpr Seconds kLatencyMax{1.0};

  [[nodiscard]] static Result<Wiring> of(const Topology& topology);

  /// By hop: the end that sends.
  [[nodiscard]] std::span<const CableEnd> ends() const { return ends_; }
  [[nodiscard]] const CableEnd& sender(HopId hop) const { return ends_[hop]; }
  [[nodiscard]] const CableEnd& receiver(HopId hop) const { return ends_[turned(hop)]; }
  [[nodiscard]] HopId hop_of(LinkId link) const { return hop_of_[link]; }
  [[nodiscard]] static HopId turned(HopId hop) { return hop ^ 1U; }

 private:
  std::vector<CableEnd> ends_;
  std::vector<HopId> hop_of_;
};

}  // namespace hocket

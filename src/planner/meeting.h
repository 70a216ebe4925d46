// Meeting: how ranks of one host meet when no topology is given, for the choice of plans: one port each at one switch.
// Rates are those of a copy from one process to another and of an addition; what is measured of them is in
// docs/measured.md, and a wrong one costs time, never a wrong result. Ownership: values. Threading: constants.
// Refuses: nothing; transports that are not known meet as over sockets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "planner/planner.h"
#include "topology/family.h"

namespace hocket {

struct Meeting {
  LinkRate rate;
  Seconds per_message;
  BytesPerSecond reduce_rate;  // 0: not counted
  Bytes segment_max;           // what is copied and then reduced lies in the caches in between,
  Bytes together;              //   and so does a segment for every peer
  // Of one-shot plans (verify/one_shot.h) where ranks show each other what they send: the longest; 0: none does.
  std::size_t shown_bytes_max = 0;
  Seconds show{};  // without the reading, which goes at the rate of a port
  /// Times up to this many times the least are taken for equal: a meeting is only a guess at the network.
  double alike = 1.05;
  bool copies_once = false;  // what a rank sends to several peers

  [[nodiscard]] Bytes segment_max_of(std::uint32_t ranks) const;
  /// Choices as this meeting has it.
  [[nodiscard]] PlanningOptions options() const;
  /// How long a call of that plan takes: as simulated, or as ranks show and read where they do.
  [[nodiscard]] Seconds time_of(const Candidate& candidate) const;
};

/// The candidate with the least time_of(); of those alike that send and combine no more bytes the one whose senders
/// copy the fewest, where they copy, and of these the one with the fewest messages, each of which a rank waits for, and
/// sleeps over where ranks share cores. None of none.
[[nodiscard]] const Candidate* fastest(std::span<const Candidate* const> candidates, const Meeting& meeting);

/// "shm", "tcp" or a plug-in's name.
[[nodiscard]] Meeting meeting_of(std::string_view transport);

/// "as if 3 ranks met at one switch, 4 GB/s and 5 us a port, whatever hosts they are on"
[[nodiscard]] std::string meeting_text(const Meeting& meeting, std::uint32_t ranks);

/// All ranks at one switch.
[[nodiscard]] Result<Topology> meeting_topology(const Meeting& meeting, std::uint32_t ranks);

}  // namespace hocket

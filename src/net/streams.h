// Streams: the byte streams of one rank. The first ones are numbered like the ranks (its own is never open), one per
// peer, and carry all that is said between two ranks; after them come further ones to peers that are joined several
// times, for segments only. A message's lane chooses among the streams to its peer; lanes beyond those that a pair has
// begin anew with its first. Where every lane has several streams the messages of a lane take turns.
// Ownership: plain values. Threading: immutable. Refuses: nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hocket {

class Streams {
 public:
  Streams() = default;
  /// `lanes`: by peer and lane, which of the ways to that peer it takes, counted from 0 without gaps; a peer with no
  /// lane has one way. `each`: by peer, streams of every way, which follow one another; none: one.
  explicit Streams(std::uint32_t ranks, const std::vector<std::vector<std::uint32_t>>& lanes = {},
                   std::vector<std::uint32_t> each = {})
      : each_(std::move(each)), by_lane_(ranks) {
    each_.resize(ranks, 1);
    for (std::uint32_t r = 0; r < ranks; ++r) peers_.push_back(r);
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      const std::vector<std::uint32_t> only{0};
      const std::vector<std::uint32_t>& ways = peer < lanes.size() && !lanes[peer].empty() ? lanes[peer] : only;
      const std::uint32_t next = count();
      for (const std::uint32_t way : ways) {
        for (std::uint32_t i = 0; i < each_[peer]; ++i) {
          const std::uint32_t which = way * each_[peer] + i;
          by_lane_[peer].push_back(which == 0 ? peer : next + which - 1);
        }
      }
      const std::uint32_t streams = (*std::max_element(ways.begin(), ways.end()) + 1) * each_[peer];
      peers_.insert(peers_.end(), streams - 1, peer);
    }
  }

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(by_lane_.size()); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(peers_.size()); }
  [[nodiscard]] std::uint32_t peer(std::uint32_t stream) const { return peers_[stream]; }
  [[nodiscard]] std::uint32_t of(std::uint32_t peer, std::uint32_t lane, std::uint32_t turn = 0) const {
    const std::size_t each = each_[peer];
    return by_lane_[peer][lane % (by_lane_[peer].size() / each) * each + turn % each];
  }
  /// All to one peer, in order.
  [[nodiscard]] std::vector<std::uint32_t> to(std::uint32_t peer) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t stream = 0; stream < count(); ++stream) {
      if (peers_[stream] == peer) all.push_back(stream);
    }
    return all;
  }

 private:
  std::vector<std::uint32_t> each_;                  // by peer
  std::vector<std::vector<std::uint32_t>> by_lane_;  // by peer; so many for every lane
  std::vector<std::uint32_t> peers_;                 // by stream
};

}  // namespace hocket

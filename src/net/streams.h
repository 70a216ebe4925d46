// Streams: the byte streams of one rank. The first ones are numbered like the ranks (its own is never open), one per
// peer, and carry all that is said between two ranks; after them come further ones to peers that are joined several
// times, for segments only. A message's lane chooses among the streams to its peer; lanes beyond those that a pair has
// begin anew with its first.
// Ownership: plain values. Threading: immutable. Refuses: nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hocket {

class Streams {
 public:
  Streams() = default;
  /// `lanes`: by peer and lane, which of the streams to that peer it takes, counted from 0 without gaps; a peer with
  /// no lane has one stream.
  explicit Streams(std::uint32_t ranks, const std::vector<std::vector<std::uint32_t>>& lanes = {}) : by_lane_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) peers_.push_back(r);
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      const std::uint32_t next = count();
      by_lane_[peer] = {peer};
      if (peer >= lanes.size() || lanes[peer].empty()) continue;
      by_lane_[peer].clear();
      for (const std::uint32_t which : lanes[peer]) by_lane_[peer].push_back(which == 0 ? peer : next + which - 1);
      peers_.insert(peers_.end(), *std::max_element(lanes[peer].begin(), lanes[peer].end()), peer);
    }
  }

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(by_lane_.size()); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(peers_.size()); }
  [[nodiscard]] std::uint32_t peer(std::uint32_t stream) const { return peers_[stream]; }
  [[nodiscard]] std::uint32_t of(std::uint32_t peer, std::uint32_t lane) const {
    return by_lane_[peer][lane % by_lane_[peer].size()];
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
  std::vector<std::vector<std::uint32_t>> by_lane_;  // by peer
  std::vector<std::uint32_t> peers_;                 // by stream
};

}  // namespace hocket

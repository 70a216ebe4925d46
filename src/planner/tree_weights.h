// Tree weights: which trees a schedule moves its pieces along and the share of the vector that each carries. Beside the
// bound's certificate (what no schedule can beat) they are the schedule's own: trees and weights that anyone can add up
// on the links. Ownership: plain values. Threading: pure functions. Refuses: nothing; nullopt where pieces do not
// travel along trees, or where they move too often to look at each move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace hocket {

struct WeighedTree {
  std::uint32_t root = 0;    // rank
  std::uint32_t height = 0;  // hops between ranks, of the higher way where reduction and spreading differ
  double weight = 0;         // share of the vector
};

/// In the order of their first pieces.
[[nodiscard]] std::optional<std::vector<WeighedTree>> weigh_trees(const Schedule& schedule);

/// "17 trees of weight 1/17, heights 3 to 5".
[[nodiscard]] std::string text_of(const std::vector<WeighedTree>& trees);

}  // namespace hocket

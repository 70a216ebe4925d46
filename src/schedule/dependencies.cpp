#include "schedule/dependencies.h"

#include <algorithm>

#include "schedule/schedule.h"

namespace hocket {

DependencyDeriver::DependencyDeriver(std::uint32_t pieces, std::uint32_t scratch_pieces, bool aliased)
    : pieces_(pieces), aliased_(aliased), places_(std::size_t{2} * pieces + scratch_pieces) {}

void DependencyDeriver::start_rank() {
  std::fill(places_.begin(), places_.end(), Place{});
  nodes_.clear();
}

std::size_t DependencyDeriver::place_of(Buffer buffer, std::uint32_t piece) const {
  switch (buffer) {
    case Buffer::kInput:
      return piece;
    case Buffer::kOutput:
      return aliased_ ? piece : std::size_t{pieces_} + piece;
    default:
      return std::size_t{2} * pieces_ + piece;
  }
}

void DependencyDeriver::visit(std::uint32_t index, const Op& op, std::vector<std::uint32_t>& waits) {
  const auto for_each_place = [&](const Access& access, auto&& action) {
    for (std::uint32_t i = 0; i < access.range.count; ++i) {
      action(places_[place_of(access.range.buffer, access.range.piece + i)]);
    }
  };
  for (const Access& access : Accesses(op)) {
    for_each_place(access, [&](const Place& place) {
      if (access.writes && place.readers != kNoOp) {
        for (std::uint32_t n = place.readers; n != kNoOp; n = nodes_[n].next) waits.push_back(nodes_[n].op);
      } else if (place.writer != kNoOp) {
        waits.push_back(place.writer);
      }
    });
  }
  for (const Access& access : Accesses(op)) {
    for_each_place(access, [&](Place& place) {
      if (access.writes) {
        place = {index, kNoOp};
      } else {
        nodes_.push_back({index, place.readers});
        place.readers = static_cast<std::uint32_t>(nodes_.size() - 1);
      }
    });
  }
}

bool is_streaming(const Op& earlier, const Op& later, bool aliased) {
  bool aligned = earlier.count == later.count;
  return conflicts(earlier, later, aliased, aligned) && aligned;
}

}  // namespace hocket

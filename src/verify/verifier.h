// Verifier: the state of one proof. The parts live in shapes.cpp, progress.cpp, hazards.cpp and contributions.cpp.
// Trusted code: it relies on Schedule and Frontier only and derives everything else again.
// Memory: besides the schedule about 13 bytes per op at its peak. Threading: one owner.
// Refuses: nothing; each part appends Findings and the next part runs only when there are none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "verify/verify.h"

namespace hocket {

class Verifier {
 public:
  Verifier(std::shared_ptr<const Schedule> schedule, VerifyOptions options)
      : schedule_(std::move(schedule)), options_(options) {}

  Verification run();

 private:
  /// Messages matched, sizes of both ends and of every source and target equal, no write where none is allowed.
  void check_shapes();
  void check_shape(OpId id, std::uint32_t rank);
  void check_message(OpId id);

  /// An order in which every op runs after what it waits for; a Finding with the waiting set when there is none.
  std::vector<OpId> topological_order();
  void report_stuck(const std::vector<bool>& done);

  /// Smallest FIFO depth per connection without deadlock; a Finding with the cycle when none up to depth_max.
  std::uint32_t smallest_depth();

  /// Conflicting accesses of one rank are ordered, in the manner their alignment needs; decides in_place_ too.
  void check_hazards();

  /// Symbolic execution of every group of pieces that can mix; fills completes_.
  void check_contributions();

  void report(FindingKind kind, OpId op, std::string text) {
    if (findings_.size() < options_.findings_max) findings_.push_back({kind, op, std::move(text)});
  }
  [[nodiscard]] bool enough() const { return findings_.size() >= options_.findings_max; }

  std::shared_ptr<const Schedule> schedule_;
  VerifyOptions options_;
  std::vector<Finding> findings_;
  std::vector<OpId> order_;
  std::vector<bool> completes_;
  bool in_place_ = false;
  bool mixed_ = false;  // an op completes some of its pieces only
};

/// Where a rank may write its output / must find its input: the piece range of `rank`, or an empty one.
struct OwnedPieces {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] bool holds(std::uint32_t piece) const { return piece >= begin && piece < end; }
};
[[nodiscard]] OwnedPieces input_pieces(const Schedule& schedule, std::uint32_t rank);
[[nodiscard]] OwnedPieces output_pieces(const Schedule& schedule, std::uint32_t rank);

}  // namespace hocket

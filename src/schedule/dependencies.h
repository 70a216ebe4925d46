// DependencyDeriver: turns a sequential program of one rank into data dependencies, op by op.
// Keeps, per piece, the last writer and the readers since. A reader waits for the writer; a writer waits for the
// readers, or for the writer when nobody read. Used by ScheduleBuilder only; the verifier does not trust it. Threading:
// one owner. Refuses: nothing; ranges were checked by the builder.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/op.h"

namespace hocket {

class DependencyDeriver {
 public:
  /// With `aliased`, input and output count as one buffer.
  DependencyDeriver(std::uint32_t pieces, std::uint32_t scratch_pieces, bool aliased);

  /// Forgets the previous rank.
  void start_rank();
  /// Appends the indices of the earlier ops that op number `index` must wait for (may repeat).
  void visit(std::uint32_t index, const Op& op, std::vector<std::uint32_t>& waits);

 private:
  struct Place {
    std::uint32_t writer = kNoOp;
    std::uint32_t readers = kNoOp;  // head of a list in nodes_
  };
  struct Node {
    std::uint32_t op;
    std::uint32_t next;
  };
  [[nodiscard]] std::size_t place_of(Buffer buffer, std::uint32_t piece) const;

  std::uint32_t pieces_;
  bool aliased_;
  std::vector<Place> places_;
  std::vector<Node> nodes_;
};

/// Whether segment s of `later` may follow segment s of `earlier`: every conflict between them is piece by piece.
[[nodiscard]] bool is_streaming(const Op& earlier, const Op& later, bool aliased);

}  // namespace hocket

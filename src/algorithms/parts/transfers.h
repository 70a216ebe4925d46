// Transfers: writes a schedule as one global sequence of transfers between ranks.
// It knows where every rank holds the current value of every piece (input, output or scratch), so that an algorithm
// says only "rank a's pieces 4..7 are added to rank b's" and first messages come straight from the input, partial sums
// of pieces that a rank does not own go to scratch, and nothing is copied that need not be. A step in which two ranks
// exchange is written as all sends, then all receives. Threading: one owner. Refuses (assert): sending what a rank does
// not hold; runs whose pieces lie in different buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/builder.h"

namespace hocket {

struct Run {
  std::uint32_t piece = 0;
  std::uint32_t count = 1;
};

class Transfers {
 public:
  /// Division of `pieces` pieces in all; a blocked collective gets pieces / ranks pieces in each block.
  Transfers(const Collective& collective, std::uint32_t pieces, std::string_view algorithm);
  Transfers(const Collective& collective, Division division, std::string_view algorithm);

  /// What `from` holds goes to `to`, which adds it to what it holds.
  void reduce(std::uint32_t from, std::uint32_t to, Run run, OpOptions options);
  /// What `from` holds becomes what `to` holds, in its output.
  void copy(std::uint32_t from, std::uint32_t to, Run run, OpOptions options);

  void send(std::uint32_t from, std::uint32_t to, Run run, OpOptions options);
  void recv_reduce(std::uint32_t to, std::uint32_t from, Run run, OpOptions options);
  void recv(std::uint32_t to, std::uint32_t from, Run run, OpOptions options);

  [[nodiscard]] ScheduleBuilder& builder() { return builder_; }
  [[nodiscard]] std::uint32_t pieces() const { return pieces_; }
  [[nodiscard]] Result<Schedule> finish() && { return std::move(builder_).finish(); }

 private:
  enum class Place : std::uint8_t { kNowhere, kInput, kOutput, kScratch };

  /// Puts what every rank has at the start in place: all-gather and broadcast copy it to the output.
  void place_inputs();
  [[nodiscard]] bool owns_output(std::uint32_t rank, std::uint32_t piece) const;
  [[nodiscard]] Place& place(std::uint32_t rank, std::uint32_t piece);
  [[nodiscard]] PieceRange range(std::uint32_t rank, Run run);
  void set_places(std::uint32_t rank, Run run, Place place);

  Collective collective_;
  std::uint32_t pieces_;
  ScheduleBuilder builder_;
  std::vector<Place> places_;  // rank * pieces_ + piece
  bool scratch_ = false;
};

/// Division of `pieces` pieces in all for a collective: one block, or one per rank.
[[nodiscard]] Division divide(const Collective& collective, std::uint32_t pieces);

}  // namespace hocket

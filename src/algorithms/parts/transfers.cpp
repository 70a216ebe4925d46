#include "algorithms/parts/transfers.h"

#include <algorithm>

#include "base/assert.h"

namespace hocket {

Division divide(const Collective& collective, std::uint32_t pieces) {
  const std::uint32_t blocks = is_blocked(collective.kind) ? collective.ranks : 1;
  return Division{.blocks = blocks, .pieces_per_block = pieces / blocks, .weights = {}};
}

Transfers::Transfers(const Collective& collective, std::uint32_t pieces, std::string_view algorithm)
    : Transfers(collective, divide(collective, pieces), algorithm) {}

Transfers::Transfers(const Collective& collective, Division division, std::string_view algorithm)
    : collective_(collective),
      pieces_(division.pieces()),
      builder_(collective, std::move(division), std::string(algorithm)),
      places_(std::size_t{collective.ranks} * pieces_, Place::kNowhere) {
  place_inputs();
}

void Transfers::place_inputs() {
  if (reduces(collective_.kind)) {
    std::fill(places_.begin(), places_.end(), Place::kInput);
    return;
  }
  const std::uint32_t per_block = pieces_ / collective_.ranks;
  for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
    const bool gathers = collective_.kind == CollectiveKind::kAllGather;
    if (!gathers && rank != collective_.root) continue;
    const Run own = gathers ? Run{rank * per_block, per_block} : Run{0, pieces_};
    builder_.copy(rank, {Buffer::kInput, own.piece, own.count}, {Buffer::kOutput, own.piece, own.count});
    set_places(rank, own, Place::kOutput);
  }
}

bool Transfers::owns_output(std::uint32_t rank, std::uint32_t piece) const {
  if (collective_.kind == CollectiveKind::kReduce) return rank == collective_.root;
  if (collective_.kind == CollectiveKind::kReduceScatter) return piece / (pieces_ / collective_.ranks) == rank;
  return true;
}

Transfers::Place& Transfers::place(std::uint32_t rank, std::uint32_t piece) {
  return places_[std::size_t{rank} * pieces_ + piece];
}

PieceRange Transfers::range(std::uint32_t rank, Run run) {
  const Place where = place(rank, run.piece);
  HOCKET_ASSERT(where != Place::kNowhere, "a rank sends what it does not hold");
  for (std::uint32_t i = 1; i < run.count; ++i) {
    HOCKET_ASSERT(place(rank, run.piece + i) == where, "a run lies in several buffers");
  }
  const Buffer buffer = where == Place::kInput    ? Buffer::kInput
                        : where == Place::kOutput ? Buffer::kOutput
                                                  : Buffer::kScratch;
  return {buffer, run.piece, run.count};
}

void Transfers::set_places(std::uint32_t rank, Run run, Place where) {
  std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(std::size_t{rank} * pieces_ + run.piece), run.count, where);
}

void Transfers::send(std::uint32_t from, std::uint32_t to, Run run, OpOptions options) {
  builder_.send(from, to, range(from, run), options);
}

void Transfers::recv_reduce(std::uint32_t to, std::uint32_t from, Run run, OpOptions options) {
  const bool owns = owns_output(to, run.piece) && owns_output(to, run.piece + run.count - 1);
  const Place target = owns ? Place::kOutput : Place::kScratch;
  if (target == Place::kScratch && !scratch_) {
    builder_.set_scratch_pieces(pieces_);
    scratch_ = true;
  }
  const PieceRange local = range(to, run);
  const Buffer buffer = target == Place::kOutput ? Buffer::kOutput : Buffer::kScratch;
  builder_.recv_reduce(to, from, local, {buffer, run.piece, run.count}, options);
  set_places(to, run, target);
}

void Transfers::recv(std::uint32_t to, std::uint32_t from, Run run, OpOptions options) {
  builder_.recv(to, from, {Buffer::kOutput, run.piece, run.count}, options);
  set_places(to, run, Place::kOutput);
}

void Transfers::reduce(std::uint32_t from, std::uint32_t to, Run run, OpOptions options) {
  send(from, to, run, options);
  recv_reduce(to, from, run, options);
}

void Transfers::copy(std::uint32_t from, std::uint32_t to, Run run, OpOptions options) {
  send(from, to, run, options);
  recv(to, from, run, options);
}

}  // namespace hocket

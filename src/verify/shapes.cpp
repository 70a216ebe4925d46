// First part of a proof: messages have two ends of one size, and nobody reads or writes what does not exist.
#include "verify/verifier.h"

namespace hocket {

OwnedPieces input_pieces(const Schedule& schedule, std::uint32_t rank) {
  const Division& d = schedule.division();
  const Collective& c = schedule.collective();
  if (c.kind == CollectiveKind::kAllGather) return {rank * d.pieces_per_block, (rank + 1) * d.pieces_per_block};
  if (c.kind == CollectiveKind::kBroadcast && rank != c.root) return {};
  return {0, d.pieces()};
}

OwnedPieces output_pieces(const Schedule& schedule, std::uint32_t rank) {
  const Division& d = schedule.division();
  const Collective& c = schedule.collective();
  if (c.kind == CollectiveKind::kReduceScatter) return {rank * d.pieces_per_block, (rank + 1) * d.pieces_per_block};
  if (c.kind == CollectiveKind::kReduce && rank != c.root) return {};
  return {0, d.pieces()};
}

void Verifier::check_shape(OpId id, std::uint32_t rank) {
  const Op& op = schedule_->op(id);
  for (const Access& access : Accesses(op)) {
    const PieceRange& r = access.range;
    if (r.buffer == Buffer::kScratch) continue;
    if (r.buffer == Buffer::kInput && access.writes) {
      report(FindingKind::kForbidden, id, fmt::format("{}: writes the input", schedule_->describe(id)));
    }
    const OwnedPieces own =
        r.buffer == Buffer::kInput ? input_pieces(*schedule_, rank) : output_pieces(*schedule_, rank);
    if (!own.holds(r.piece) || !own.holds(r.piece + r.count - 1)) {
      report(FindingKind::kForbidden, id,
             fmt::format("{}: rank {} has {} pieces {}..{} only", schedule_->describe(id), rank, name_of(r.buffer),
                         own.begin, std::int64_t{own.end} - 1));
    }
  }
  const Division& d = schedule_->division();
  if (op.reads_source() && op.writes_target() && d.size_class(op.source_piece) != d.size_class(op.target_piece)) {
    report(FindingKind::kSizes, id,
           fmt::format("{}: source and target pieces have different sizes", schedule_->describe(id)));
  }
}

void Verifier::check_message(OpId id) {
  const Op& op = schedule_->op(id);
  const OpId other = schedule_->match(id);
  if (other == kNoOp) {
    const std::uint32_t rank = schedule_->rank_of(id);
    report(FindingKind::kUnmatched, id,
           op.sends() ? fmt::format("{}: rank {} has no matching receive on channel {}", schedule_->describe(id),
                                    op.peer, op.channel)
                      : fmt::format("{}: rank {} never gets this data, rank {} sends nothing for it on channel {}; the "
                                    "receiver is blocked",
                                    schedule_->describe(id), rank, op.peer, op.channel));
    return;
  }
  if (!op.sends()) return;
  const Op& peer = schedule_->op(other);
  const Division& d = schedule_->division();
  const bool empty = op.kind == OpKind::kSignal;
  if (empty != (peer.kind == OpKind::kWait) || op.count != peer.count ||
      (!empty && d.size_class(op.source_piece) != d.size_class(peer.target_piece))) {
    report(FindingKind::kSizes, id,
           fmt::format("{} meets {}: {} and {} pieces, or pieces of different sizes", schedule_->describe(id),
                       schedule_->describe(other), op.count, peer.count));
  }
}

void Verifier::check_shapes() {
  for (std::uint32_t rank = 0; rank < schedule_->rank_count(); ++rank) {
    for (OpId id = schedule_->first_op(rank); id < schedule_->first_op(rank + 1) && !enough(); ++id) {
      check_shape(id, rank);
      if (schedule_->op(id).sends() || schedule_->op(id).receives()) check_message(id);
    }
  }
}

}  // namespace hocket

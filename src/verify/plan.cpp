#include "verify/plan.h"

#include <algorithm>
#include <utility>

namespace hocket {

Result<Plan> Plan::bind(VerifiedSchedule schedule, const BoundCollective& what, Bytes segment) {
  HOCKET_TRY(validate(what));
  const Schedule& s = schedule.schedule();
  if (what.collective != s.collective()) {
    return fail(Code::kMismatch, "plan is for {} of {} ranks (root {}), asked for {} of {} ranks (root {})",
                name_of(s.collective().kind), s.collective().ranks, s.collective().root, name_of(what.collective.kind),
                what.collective.ranks, what.collective.root);
  }
  const Division& division = s.division();
  if (division.uniform && what.count % division.pieces() != 0) {
    return fail(Code::kUnsupported, "this schedule needs equal pieces: {} elements are not a multiple of its {} pieces",
                what.count, division.pieces());
  }
  if (what.op == ReduceOp::kAvg && !schedule.can_average()) {
    return fail(Code::kUnsupported,
                "this schedule completes some pieces of an op before others, so avg cannot divide; use sum");
  }
  if (segment.count < size_of(what.type)) {
    return fail(Code::kInvalidArgument, "segment of {} bytes is below one {} element", segment.count,
                name_of(what.type));
  }
  Plan plan(std::move(schedule));
  plan.what_ = what;
  plan.segment_ = segment;
  plan.offsets_.reserve(division.pieces() + 1);
  for (std::uint32_t p = 0; p <= division.pieces(); ++p) plan.offsets_.push_back(division.offset(p, what.count));
  Hasher hasher;
  const Fingerprint base = plan.schedule().fingerprint();
  hasher.add(base.high)
      .add(base.low)
      .add(static_cast<std::uint64_t>(what.count))
      .add(static_cast<std::uint64_t>(what.type));
  hasher.add(static_cast<std::uint64_t>(what.op)).add(static_cast<std::uint64_t>(segment.count));
  plan.fingerprint_ = hasher.finish();
  return plan;
}

ByteRange Plan::bytes_of(const PieceRange& range) const {
  const auto pieces = static_cast<std::uint32_t>(offsets_.size() - 1);
  const std::int64_t size = size_of(what_.type);
  const std::uint32_t piece = range.piece % pieces;
  const std::int64_t round = range.piece / pieces;
  return {range.buffer, (round * what_.count + offsets_[piece]) * size,
          (offsets_[piece + range.count] - offsets_[piece]) * size};
}

std::int64_t Plan::bytes(OpId id) const {
  const Op& op = schedule().op(id);
  for (const Access& access : Accesses(op)) return bytes_of(access.range).length;
  return 0;
}

std::uint32_t Plan::segments(OpId id) const {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((bytes(id) + segment_.count - 1) / segment_.count, 1, 0x7fffffff));
}

std::int64_t Plan::segment_begin(std::int64_t length, std::uint32_t s, std::uint32_t n) const {
  const std::int64_t size = size_of(what_.type);
  const auto elements = static_cast<__int128>(length / size);
  return static_cast<std::int64_t>(elements * s / n) * size;
}

std::int64_t Plan::input_base(std::uint32_t rank) const {
  if (what_.collective.kind != CollectiveKind::kAllGather) return 0;
  return what_.count / what_.collective.ranks * rank * size_of(what_.type);
}

std::int64_t Plan::output_base(std::uint32_t rank) const {
  if (what_.collective.kind != CollectiveKind::kReduceScatter) return 0;
  return what_.count / what_.collective.ranks * rank * size_of(what_.type);
}

Bytes Plan::input_bytes() const {
  const Bytes whole = what_.bytes();
  return what_.collective.kind == CollectiveKind::kAllGather ? Bytes{whole.count / what_.collective.ranks} : whole;
}

Bytes Plan::output_bytes() const {
  const Bytes whole = what_.bytes();
  return what_.collective.kind == CollectiveKind::kReduceScatter ? Bytes{whole.count / what_.collective.ranks} : whole;
}

Bytes Plan::scratch_bytes() const {
  const std::uint32_t scratch = schedule().scratch_pieces();
  const auto pieces = static_cast<std::uint32_t>(offsets_.size() - 1);
  const std::int64_t size = size_of(what_.type);
  return {(std::int64_t{scratch / pieces} * what_.count + offsets_[scratch % pieces]) * size};
}

}  // namespace hocket

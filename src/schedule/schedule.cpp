#include "schedule/schedule.h"

#include <algorithm>

namespace hocket {

std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::kSend:
      return "send";
    case OpKind::kRecv:
      return "recv";
    case OpKind::kRecvReduce:
      return "recv_reduce";
    case OpKind::kCopy:
      return "copy";
    case OpKind::kReduce:
      return "reduce";
    case OpKind::kCompute:
      return "compute";
    case OpKind::kSignal:
      return "signal";
    case OpKind::kWait:
      return "wait";
  }
  return "?";
}

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::kInput:
      return "input";
    case Buffer::kOutput:
      return "output";
    case Buffer::kScratch:
      return "scratch";
  }
  return "?";
}

std::uint32_t Schedule::rank_of(OpId id) const {
  const auto after = std::upper_bound(rank_begin_.begin(), rank_begin_.end(), id);
  return static_cast<std::uint32_t>(after - rank_begin_.begin() - 1);
}

std::string Schedule::describe(OpId id) const {
  const Op& o = ops_[id];
  const std::uint32_t rank = rank_of(id);
  std::string text = fmt::format("rank {} op {}", rank, id - first_op(rank));
  if (has_origins()) text += fmt::format(" (gpu {} tb {} step {})", rank, origins_[id].thread_block, origins_[id].step);
  text += fmt::format(": {}", name_of(o.kind));
  const auto range = [](const PieceRange& r) {
    return r.count == 1 ? fmt::format("{}[{}]", name_of(r.buffer), r.piece)
                        : fmt::format("{}[{}..{}]", name_of(r.buffer), r.piece, std::uint64_t{r.piece} + r.count - 1);
  };
  if (o.reads_source()) text += " " + range(o.source());
  if (o.writes_target()) text += (o.reads_source() ? " into " : " ") + range(o.target());
  if (o.sends()) text += fmt::format(" to rank {}", o.peer);
  if (o.receives()) text += fmt::format(" from rank {}", o.peer);
  return text;
}

Fingerprint Schedule::fingerprint() const {
  Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(collective_.kind)).add(collective_.ranks).add(collective_.root);
  hasher.add(division_.blocks).add(division_.pieces_per_block).add(division_.uniform ? 1 : 0);
  for (const std::uint32_t w : division_.weights) hasher.add(w);
  for (const OpId begin : rank_begin_) hasher.add(begin);
  for (const Op& o : ops_) {
    hasher.add(static_cast<std::uint64_t>(o.kind) | std::uint64_t{o.buffers} << 8 | std::uint64_t{o.channel} << 16 |
               std::uint64_t{o.peer} << 32);
    hasher.add(std::uint64_t{o.source_piece} << 32 | o.target_piece);
    hasher.add(std::uint64_t{o.count} << 32 | o.first_dependency);
  }
  for (const Dependency& d : dependencies_) hasher.add(d.on());
  return hasher.finish();
}

bool overlaps(const PieceRange& a, const PieceRange& b, bool aliased) {
  const auto place = [&](Buffer buffer) { return aliased && buffer == Buffer::kOutput ? Buffer::kInput : buffer; };
  return place(a.buffer) == place(b.buffer) && std::uint64_t{a.piece} < std::uint64_t{b.piece} + b.count &&
         std::uint64_t{b.piece} < std::uint64_t{a.piece} + a.count;
}

bool conflicts(const Op& a, const Op& b, bool aliased, bool& aligned) {
  bool found = false;
  for (const Access& first : Accesses(a)) {
    for (const Access& second : Accesses(b)) {
      if (!(first.writes || second.writes) || !overlaps(first.range, second.range, aliased)) continue;
      found = true;
      if (first.range.piece != second.range.piece || first.range.count != second.range.count) aligned = false;
    }
  }
  return found;
}

}  // namespace hocket

#include "simulator/endpoint_costs.h"

#include <algorithm>
#include <optional>
#include <set>

namespace hocket {
namespace {

/// The dimension in which two ranks differ, if it is one; dimensions() when they differ in several or there are none.
std::uint32_t dimension_between(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  const auto extents = topology.extents();
  const auto none = static_cast<std::uint32_t>(extents.size());
  std::uint32_t found = none;
  for (std::uint32_t d = 0; d < none; ++d) {
    const bool differs = a % extents[d] != b % extents[d];
    a /= extents[d];
    b /= extents[d];
    if (!differs) continue;
    if (found != none) return none;
    found = d;
  }
  return found;
}

bool same_pieces(const PieceRange& a, const PieceRange& b) { return a == b; }

/// Pieces of runs, each counted once.
std::int64_t bytes_of_pieces(const Plan& plan, const std::set<std::uint32_t>& pieces) {
  std::int64_t bytes = 0;
  for (const std::uint32_t piece : pieces) bytes += plan.bytes_of({Buffer::kInput, piece, 1}).length;
  return bytes;
}

void add_pieces(std::set<std::uint32_t>& pieces, const PieceRange& range, std::uint32_t all) {
  for (std::uint32_t i = 0; i < range.count; ++i) pieces.insert((range.piece + i) % all);
}

}  // namespace

EndpointCosts::EndpointCosts(const Schedule& schedule, const Topology& topology, EngineKind kind)
    : schedule_(&schedule), costs_(schedule.ops().size()) {
  if (kind == EngineKind::kComputeUnits || kind == EngineKind::kDma) charge_kernels(kind == EngineKind::kComputeUnits);
  if (kind == EngineKind::kAce) {
    for (OpId id = 0; id < costs_.size(); ++id) costs_[id].adds = schedule.op(id).combines() ? 1 : 0;
  }
  find_phases(topology);
}

/// What arrives is written where it belongs, or, to be added, beside it.
void EndpointCosts::charge_kernels(bool fuse) {
  for (OpId id = 0; id < costs_.size(); ++id) {
    switch (schedule_->op(id).kind) {
      case OpKind::kSend:
        costs_[id] = {1, 0, 0};
        break;
      case OpKind::kRecv:
        costs_[id] = {0, 1, 0};
        break;
      case OpKind::kRecvReduce:
        costs_[id] = {2, 2, 1};
        break;
      case OpKind::kCopy:
        costs_[id] = {1, 1, 0};
        break;
      case OpKind::kReduce:
        costs_[id] = {2, 1, 1};
        break;
      default:
        break;
    }
  }
  for (std::uint32_t rank = 0; fuse && rank < schedule_->rank_count(); ++rank)
    fuse_rank(schedule_->first_op(rank), schedule_->first_op(rank + 1));
}

void EndpointCosts::fuse_rank(OpId begin, OpId end) {
  std::vector<char> taken(end - begin, 0);
  for (OpId send = begin; send < end; ++send) {
    if (schedule_->op(send).kind != OpKind::kSend) continue;
    const PieceRange source = schedule_->op(send).source();
    std::optional<OpId> maker;
    for (const Dependency& d : schedule_->dependencies(send)) {
      const Op& on = schedule_->op(d.on());
      if (on.kind == OpKind::kRecvReduce && same_pieces(on.target(), source)) maker = d.on();
    }
    if (!maker || taken[*maker - begin] != 0) continue;
    taken[*maker - begin] = 1;
    // The message is written beside, read with what is there, and the sum leaves without being read again. It is
    // written too where anything else needs it: a result, or another reader.
    bool kept = source.buffer != Buffer::kScratch;
    for (OpId other = *maker + 1; other < end && !kept; ++other) {
      const Op& op = schedule_->op(other);
      kept = other != send && op.reads_source() && overlaps(op.source(), source, false);
      if (op.writes_target() && overlaps(op.target(), source, false)) break;
    }
    costs_[send] = {2, static_cast<std::uint8_t>(kept ? 1 : 0), 1};
    costs_[*maker] = {0, 1, 0};
  }
}

void EndpointCosts::find_phases(const Topology& topology) {
  constexpr std::uint32_t kUnset = 0xffffffffU;
  std::vector<std::uint32_t> dimension(schedule_->steps(), kUnset);
  const auto mixed = static_cast<std::uint32_t>(topology.extents().size());
  for (std::uint32_t rank = 0; rank < schedule_->rank_count(); ++rank) {
    for (OpId id = schedule_->first_op(rank); id < schedule_->first_op(rank + 1); ++id) {
      const Op& op = schedule_->op(id);
      if (!op.sends()) continue;
      const std::uint32_t d = dimension_between(topology, rank, op.peer);
      std::uint32_t& known = dimension[op.step];
      known = known == kUnset || known == d ? d : mixed;
    }
  }
  phase_of_step_.assign(std::max(1U, schedule_->steps()), 0);
  if (schedule_->collective().kind == CollectiveKind::kAllToAll) return;
  std::uint32_t last = kUnset;
  for (std::uint32_t step = 0; step < dimension.size(); ++step) {
    const std::uint32_t d = dimension[step];
    if (d != kUnset && last != kUnset && d != last) ++phases_;
    if (d != kUnset) last = d;
    phase_of_step_[step] = phases_ - 1;
  }
}

std::int64_t touched_bytes(const Plan& plan, const EndpointCosts& costs, std::uint32_t rank, std::uint32_t phase) {
  const Schedule& schedule = plan.schedule();
  const std::uint32_t all = schedule.division().pieces();
  std::set<std::uint32_t> pieces;
  for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
    if (costs.phase_of(id) != phase) continue;
    for (const Access& access : Accesses(schedule.op(id))) add_pieces(pieces, access.range, all);
  }
  return bytes_of_pieces(plan, pieces);
}

std::int64_t buffer_bytes(const Plan& plan, std::uint32_t rank, Buffer buffer) {
  const Schedule& schedule = plan.schedule();
  const std::uint32_t all = schedule.division().pieces();
  std::set<std::uint32_t> pieces;
  for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
    for (const Access& access : Accesses(schedule.op(id))) {
      if (access.range.buffer == buffer && access.writes == (buffer == Buffer::kOutput))
        add_pieces(pieces, access.range, all);
    }
  }
  return bytes_of_pieces(plan, pieces);
}

EndpointTraffic endpoint_traffic(const Plan& plan, const Topology& topology, EngineKind kind, std::uint32_t rank) {
  const Schedule& schedule = plan.schedule();
  const EndpointCosts costs(schedule, topology, kind);
  EndpointTraffic traffic;
  for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) {
    const std::int64_t bytes = plan.bytes(id);
    const OpCost cost = costs.cost(id);
    if (schedule.op(id).sends()) traffic.sent += bytes;
    traffic.read += cost.reads * bytes;
    traffic.written += cost.writes * bytes;
    traffic.added += cost.adds * bytes;
  }
  if (kind == EngineKind::kAce) {
    traffic.read = buffer_bytes(plan, rank, Buffer::kInput);
    traffic.written = buffer_bytes(plan, rank, Buffer::kOutput);
  }
  return traffic;
}

}  // namespace hocket

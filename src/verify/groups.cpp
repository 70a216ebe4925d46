#include "verify/groups.h"

#include <algorithm>
#include <numeric>

namespace hocket {
namespace {

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

}  // namespace

PieceGroups::PieceGroups(const Schedule& schedule) : schedule_(&schedule), pieces_(schedule.division().pieces()) {
  rounds_ = (schedule.scratch_pieces() + pieces_ - 1) / pieces_;
  straight_ = keeps_indices();
  if (straight_) {
    cut_runs();
  } else {
    join_pieces();
  }
}

bool PieceGroups::keeps_indices() const {
  for (OpId id = 0; id < schedule_->ops().size(); ++id) {
    const Op& op = schedule_->op(id);
    if (op.reads_source() && op.writes_target() && op.source_piece % pieces_ != op.target_piece % pieces_) return false;
    if (op.kind == OpKind::kSend &&
        op.source_piece % pieces_ != schedule_->op(schedule_->match(id)).target_piece % pieces_)
      return false;
  }
  // An all-to-all's answer is stated per block, so its pieces are kept apart.
  return schedule_->collective().kind != CollectiveKind::kAllToAll;
}

void PieceGroups::cut_runs() {
  std::vector<bool> cut(pieces_ + 1, false);
  cut[0] = true;
  for (const Op& op : schedule_->ops()) {
    if (!op.reads_source() && !op.writes_target()) continue;
    cut[piece_of(op) % pieces_] = true;
    cut[piece_of(op) % pieces_ + op.count] = true;
  }
  if (is_blocked(schedule_->collective().kind)) {
    for (std::uint32_t p = 0; p < pieces_; p += schedule_->division().pieces_per_block) cut[p] = true;
  }
  run_of_.resize(pieces_);
  for (std::uint32_t p = 0; p < pieces_; ++p) {
    if (cut[p]) run_begin_.push_back(p);
    run_of_[p] = static_cast<std::uint32_t>(run_begin_.size() - 1);
  }
  count_ = static_cast<std::uint32_t>(run_begin_.size());
}

void PieceGroups::join_pieces() {
  const std::size_t nodes = std::size_t{2} * pieces_ + schedule_->scratch_pieces();
  std::vector<std::uint32_t> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0U);
  const auto join = [&](const PieceRange& a, const PieceRange& b) {
    for (std::uint32_t i = 0; i < a.count; ++i) {
      parent[root_of(parent, static_cast<std::uint32_t>(node(a.buffer, a.piece + i)))] =
          root_of(parent, static_cast<std::uint32_t>(node(b.buffer, b.piece + i)));
    }
  };
  for (OpId id = 0; id < schedule_->ops().size(); ++id) {
    const Op& op = schedule_->op(id);
    if (op.reads_source() && op.writes_target()) join(op.source(), op.target());
    if (op.kind == OpKind::kSend) join(op.source(), schedule_->op(schedule_->match(id)).target());
  }
  group_of_.assign(nodes, 0);
  local_.assign(nodes, 0);
  std::vector<std::uint32_t> number(nodes, kNoOp);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    std::uint32_t& group = number[root_of(parent, n)];
    if (group == kNoOp) {
      group = count_++;
      group_size_.push_back(0);
    }
    group_of_[n] = group;
    local_[n] = group_size_[group]++;
  }
}

template <class Action>
void PieceGroups::for_each_group(const Op& op, Action&& action) const {
  if (!op.reads_source() && !op.writes_target()) return;
  if (straight_) {
    const std::uint32_t begin = piece_of(op) % pieces_;
    for (std::uint32_t run = run_of_[begin]; run < count_ && run_begin_[run] < begin + op.count; ++run) action(run);
    return;
  }
  std::vector<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < op.count; ++i) {
    const std::uint32_t group = group_at(op, i);
    if (std::find(seen.begin(), seen.end(), group) == seen.end()) seen.push_back(group);
  }
  for (const std::uint32_t group : seen) action(group);
}

PieceGroups::Buckets PieceGroups::sort(std::span<const OpId> order) const {
  Buckets buckets;
  buckets.begin_.assign(count_ + 1, 0);
  for (const OpId id : order) {
    for_each_group(schedule_->op(id), [&](std::uint32_t group) { ++buckets.begin_[group + 1]; });
  }
  std::partial_sum(buckets.begin_.begin(), buckets.begin_.end(), buckets.begin_.begin());
  buckets.ops_.resize(buckets.begin_.back());
  std::vector<std::size_t> next(buckets.begin_.begin(), buckets.begin_.end() - 1);
  for (const OpId id : order) {
    for_each_group(schedule_->op(id), [&](std::uint32_t group) { buckets.ops_[next[group]++] = id; });
  }
  return buckets;
}

}  // namespace hocket

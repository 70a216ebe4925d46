#include "verify/one_shot.h"

#include <algorithm>
#include <vector>

namespace hocket {
namespace {

/// Of one rank: copies, then sends of one range that nothing else writes before the last of them, one message to and
/// one from each other rank, and dependencies that the order of ops keeps.
class RankExamination {
 public:
  RankExamination(const Plan& plan, std::uint32_t rank)
      : plan_(plan), rank_(rank), sent_(plan.schedule().rank_count()), received_(plan.schedule().rank_count()) {}

  [[nodiscard]] bool passes(std::size_t bytes) {
    const Schedule& schedule = plan_.schedule();
    for (OpId id = schedule.first_op(rank_); id < schedule.first_op(rank_ + 1); ++id) {
      const auto before = [id](const Dependency& d) { return d.on() < id; };
      const auto on = schedule.dependencies(id);
      if (!std::all_of(on.begin(), on.end(), before) || !takes(id, bytes)) return false;
    }
    return complete(sent_) && complete(received_);
  }

 private:
  [[nodiscard]] bool takes(OpId id, std::size_t bytes) {
    const Op& op = plan_.schedule().op(id);
    if (plan_.segments(id) != 1 || op.kind == OpKind::kSignal || op.kind == OpKind::kWait) return false;
    if (op.sends() || op.receives()) {
      if (static_cast<std::size_t>(plan_.bytes(id)) != bytes) return false;
      std::vector<bool>& met = op.sends() ? sent_ : received_;
      if (met[op.peer]) return false;
      met[op.peer] = true;
    }
    if (op.sends()) {
      if (any_sent_ && op.source() != message_) return false;
      message_ = op.source();
      any_sent_ = true;
      return std::none_of(written_.begin(), written_.end(),
                          [this](const PieceRange& range) { return overlaps(range, message_, true); });
    }
    const bool leads = op.kind == OpKind::kCopy && written_.empty() && !any_sent_;
    if (op.writes_target() && !leads) written_.push_back(op.target());
    return true;
  }

  [[nodiscard]] bool complete(const std::vector<bool>& met) const {
    for (std::uint32_t peer = 0; peer < met.size(); ++peer) {
      if (met[peer] == (peer == rank_)) return false;
    }
    return true;
  }

  const Plan& plan_;
  std::uint32_t rank_;
  std::vector<bool> sent_;
  std::vector<bool> received_;
  std::vector<PieceRange> written_;
  PieceRange message_;
  bool any_sent_ = false;
};

}  // namespace

std::optional<std::size_t> one_shot_bytes(const Plan& plan, std::size_t bytes_max) {
  const Schedule& schedule = plan.schedule();
  const std::span<const Op> ops = schedule.ops();
  const auto send = std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.sends(); });
  if (send == ops.end()) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(plan.bytes(static_cast<OpId>(send - ops.begin())));
  if (bytes > bytes_max) return std::nullopt;
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    if (!RankExamination(plan, rank).passes(bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace hocket

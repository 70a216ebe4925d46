#include "verify/fifo_order.h"

#include "schedule/frontier.h"

namespace hocket {
namespace {

/// Kahn's algorithm over dependencies, messages, connection order and credits of depth `depth`.
class FifoRun {
 public:
  FifoRun(const Schedule& schedule, const Connections& connections) : schedule_(schedule), connections_(connections) {}

  std::vector<OpId> run(std::uint32_t depth) {
    depth_ = depth;
    const auto count = static_cast<OpId>(schedule_.ops().size());
    Frontier<std::uint8_t> frontier(schedule_, 0, count);
    std::vector<OpId> work;
    work.reserve(count);
    std::vector<bool> ran(count, false);
    const auto enter = [&](OpId id) {
      if (ran[id] || frontier.released(id) == 0 || !connection_allows(frontier, ran, id)) return;
      if (schedule_.op(id).receives() && !ran[schedule_.match(id)]) return;
      ran[id] = true;
      work.push_back(id);
    };
    for (OpId id = 0; id < count; ++id) enter(id);
    for (std::size_t next = 0; next < work.size(); ++next) {
      const OpId id = work[next];
      if (schedule_.op(id).receives()) frontier.arrive(id);
      frontier.start(id);
      frontier.finish(id, 1, [&](OpId touched) {
        enter(touched);
        if (depth_ == 0 && schedule_.op(touched).receives()) enter(schedule_.match(touched));
      });
      wake(id, enter);
    }
    return work;
  }

 private:
  bool connection_allows(const Frontier<std::uint8_t>& frontier, const std::vector<bool>& ran, OpId id) const {
    const Op& op = schedule_.op(id);
    if (!op.sends() && !op.receives()) return true;
    const OpId before = connections_.previous(id, 1);
    if (before != kNoOp && !ran[before]) return false;
    if (!op.sends()) return true;
    if (depth_ == 0) return frontier.released(schedule_.match(id)) != 0;
    const OpId credit = connections_.previous(id, depth_);
    return credit == kNoOp || ran[schedule_.match(credit)];
  }

  template <class Enter>
  void wake(OpId id, Enter&& enter) const {
    const Op& op = schedule_.op(id);
    if (!op.sends() && !op.receives()) return;
    if (const OpId after = connections_.next(id, 1); after != kNoOp) enter(after);
    if (op.sends()) {
      enter(schedule_.match(id));
    } else if (depth_ > 0) {
      const OpId later = connections_.next(schedule_.match(id), depth_);
      if (later != kNoOp) enter(later);
    }
  }

  const Schedule& schedule_;
  const Connections& connections_;
  std::uint32_t depth_ = 0;
};

}  // namespace

std::vector<OpId> fifo_order(const Schedule& schedule, const Connections& connections, std::uint32_t depth) {
  return FifoRun(schedule, connections).run(depth);
}

}  // namespace hocket

#include "verify/fifo_order.h"

#include "schedule/frontier.h"

namespace hocket {
namespace {

/// Kahn's algorithm over dependencies, messages, connection order and credits of depth `depth`.
class FifoRun {
 public:
  FifoRun(const Schedule& schedule, const Connections& connections) : schedule_(schedule), connections_(connections) {}

  /// Number of ops that can run; `order` (if any) gets them in an order that can.
  std::size_t run(std::uint32_t depth, std::vector<OpId>* order) {
    depth_ = depth;
    std::size_t entered = 0;
    const auto count = static_cast<OpId>(schedule_.ops().size());
    Frontier<std::uint8_t> frontier(schedule_, 0, count);
    std::vector<OpId> work;  // a stack: stays far smaller than the schedule
    std::vector<bool> ran(count, false);
    const auto enter = [&](OpId id) {
      if (ran[id] || frontier.released(id) == 0 || !connection_allows(frontier, ran, id)) return;
      if (schedule_.op(id).receives() && !ran[schedule_.match(id)]) return;
      ran[id] = true;
      ++entered;
      work.push_back(id);
      if (order != nullptr) order->push_back(id);
    };
    const auto run_one = [&] {
      const OpId id = work.back();
      work.pop_back();
      if (schedule_.op(id).receives()) frontier.arrive(id);
      frontier.start(id);
      frontier.finish(id, 1, [&](OpId touched) {
        enter(touched);
        if (depth_ == 0 && schedule_.op(touched).receives()) enter(schedule_.match(touched));
      });
      wake(id, enter);
    };
    for (OpId id = 0; id < count; ++id) {
      enter(id);
      while (!work.empty()) run_one();
    }
    return entered;
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
  std::vector<OpId> order;
  FifoRun(schedule, connections).run(depth, &order);
  return order;
}

bool fifo_safe(const Schedule& schedule, const Connections& connections, std::uint32_t depth) {
  return FifoRun(schedule, connections).run(depth, nullptr) == schedule.ops().size();
}

}  // namespace hocket

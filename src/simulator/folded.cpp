#include "simulator/folded.h"

#include <algorithm>

#include "base/event_queue.h"
#include "schedule/send_queue.h"

namespace hocket {
namespace {

class FoldedRun {
 public:
  explicit FoldedRun(const FoldedProgram& program)
      : program_(program),
        segments_(static_cast<std::uint32_t>(program.segment_bytes.size())),
        then_(program.ops.size()),
        missing_(program.ops.size() * segments_, 0),
        links_(program.classes.size()) {
    for (std::uint32_t op = 0; op < program.ops.size(); ++op) {
      const auto& after = program.ops[op].after;
      for (const std::uint32_t before : after) then_[before].push_back(op);
      std::fill_n(missing_.begin() + static_cast<std::ptrdiff_t>(std::size_t{op} * segments_), segments_,
                  static_cast<std::uint32_t>(after.size()));
    }
    result_.class_bytes.resize(program.classes.size(), 0);
  }

  Result<FoldedResult> run() {
    for (std::uint32_t op = 0; op < program_.ops.size(); ++op) {
      for (std::uint32_t s = 0; s < segments_ && program_.ops[op].after.empty(); ++s) make_ready(op, s);
    }
    choose_sends();
    while (!events_.empty()) {
      const auto event = events_.pop();
      ++result_.events;
      if (event.payload.arrives) {
        arrive(event.payload.op, event.payload.segment, event.time);
      } else {
        links_[event.payload.op].busy = false;
      }
      if (events_.empty() || events_.front_time().count > event.time.count) choose_sends();
    }
    if (arrived_ != program_.ops.size() * segments_)
      return fail(Code::kDisproved, "{} of {} messages wait for each other", program_.ops.size() - arrived_ / segments_,
                  program_.ops.size());
    return result_;
  }

 private:
  struct Event {
    std::uint32_t op = 0;  // or the class of the link that is free again
    std::uint32_t segment = 0;
    bool arrives = false;
  };
  struct FoldedLink {
    SendQueue queue;
    bool busy = false;
  };

  void make_ready(std::uint32_t op, std::uint32_t segment) {
    const std::uint32_t cls = program_.ops[op].cls;
    links_[cls].queue.push({segment, op});
  }

  /// A link chooses when all that happens at one instant is known.
  void choose_sends() {
    for (std::uint32_t cls = 0; cls < links_.size(); ++cls) {
      if (!links_[cls].busy) send_next(cls, events_.now());
    }
  }

  void send_next(std::uint32_t cls, Picos now) {
    FoldedLink& link = links_[cls];
    if (link.queue.empty()) return;
    const SendQueue::Entry next = link.queue.lowest();
    link.queue.replace_lowest({}, false);
    link.busy = true;
    const std::int64_t bytes = program_.segment_bytes[next.segment] * program_.ops[next.op].shares;
    result_.class_bytes[cls] += bytes;
    const Picos end = now + transfer_time({bytes}, program_.classes[cls].bandwidth);
    events_.push(end, {cls, 0, false});
    events_.push(end + to_picos_at_least(program_.classes[cls].latency), {next.op, next.segment, true});
  }

  void arrive(std::uint32_t op, std::uint32_t segment, Picos now) {
    ++arrived_;
    result_.time = std::max(result_.time, now);
    for (const std::uint32_t next : then_[op]) {
      if (--missing_[std::size_t{next} * segments_ + segment] == 0) make_ready(next, segment);
    }
  }

  const FoldedProgram& program_;
  std::uint32_t segments_;
  std::vector<std::vector<std::uint32_t>> then_;
  std::vector<std::uint32_t> missing_;  // by op and segment
  std::vector<FoldedLink> links_;
  EventQueue<Event> events_;
  std::size_t arrived_ = 0;
  FoldedResult result_;
};

}  // namespace

Result<FoldedResult> simulate_folded(const FoldedProgram& program) {
  double total = 0;
  for (const FoldedOp& op : program.ops) {
    const FoldedClass& c = program.classes[op.cls];
    for (const std::int64_t bytes : program.segment_bytes)
      total += static_cast<double>(bytes) * op.shares / c.bandwidth.value + c.latency.value;
  }
  if (total > 1e6) return fail(Code::kUnsupported, "it would take up to {:.3g} s, the clock holds 1e6 s", total);
  return FoldedRun(program).run();
}

}  // namespace hocket

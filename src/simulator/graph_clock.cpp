// What ends a run because simulated time would go beyond its end: compute, work of the host, transfers and memory
// traffic, each named by the task that it belongs to.
#include "simulator/clock_end.h"
#include "simulator/graph_run.h"

namespace hocket {

/// False, and the run is to end, when compute or work of the host that begins now goes beyond the clock even when
/// nothing disturbs it.
bool GraphRun::on_clock(std::uint32_t r, Instance i, double seconds) {
  const double now = to_seconds(now_).value;
  if (now + seconds < to_seconds(kClockEnd).value) return true;
  end_late(fmt::format("{} takes {:.4g} s by itself and begins at {:.4g} s", task_text(r, i), seconds, now));
  return false;
}

/// The same for a parcel on a link; `seconds`: that it holds the link.
bool GraphRun::on_clock(const Event& parcel, Picos begin, double seconds) {
  const double at = to_seconds(begin).value;
  if (seconds < to_seconds(kStepMax).value && at + seconds < to_seconds(kClockEnd).value) return true;
  end_late(fmt::format("{} holds a link for {:.4g} s from {:.4g} s on", task_text(owner(parcel)), seconds, at));
  return false;
}

void GraphRun::end_late(const std::string& what) {
  if (!late_) late_ = Error{Code::kUnsupported, fmt::format("{}: {}", what, clock_end_text())};
}

/// Of a flow: the rank and task that sends.
std::pair<std::uint32_t, GraphRun::Instance> GraphRun::owner(const Event& event) const {
  const Flow& flow = flows_[event.seq];
  if (flow.shape != nullptr) return {event.rank, instance_of(event.rank, flow.call)};
  return {messages_[flow.message].sender, messages_[flow.message].send};
}

std::string GraphRun::task_text(std::pair<std::uint32_t, Instance> of) const { return task_text(of.first, of.second); }

std::string GraphRun::task_text(std::uint32_t r, Instance i) const {
  const Task& t = task(r, i);
  return fmt::format("{}: {} '{}' (rank {})", setup_.graph.program(r).origin, t.place, t.name.substr(0, 60), r);
}

/// When nothing is left to happen: work that goes on, but ends beyond the clock.
void GraphRun::look_for_late_work() {
  for (std::uint32_t r = 0; r < ranks_.size() && !late_; ++r) {
    const std::optional<std::uint64_t> tag = ranks_[r].pool.any_running();
    if (!tag) continue;
    const PendingWork& work = ranks_[r].work[*tag];
    const bool compute = work.what == PendingWork::What::kCompute;
    const bool own = compute || work.what == PendingWork::What::kHost;
    const std::string who = own ? task_text(r, compute ? *ranks_[r].compute.running : *ranks_[r].host.running)
                                : task_text(owner({.rank = r, .seq = work.parcel.seq}));
    end_late(fmt::format("{}: its {} that goes on at {:.4g} s does not end in time", who,
                         own ? "work" : "memory traffic", to_seconds(now_).value));
  }
}

}  // namespace hocket

#include "simulator/schedule_run.h"

namespace hocket {

ScheduleRun::ScheduleRun(const Plan& plan, const Topology& topology, const SimulateOptions& options)
    : plan_(plan),
      schedule_(plan.schedule()),
      topology_(topology),
      options_(options),
      frontier_(schedule_, 0, static_cast<OpId>(schedule_.ops().size())) {
  result_.link_bytes.assign(topology.links().size(), 0);
  result_.link_busy.assign(topology.links().size(), Picos{});
  result_.model = options.model;
  for (OpId id = 0; id < schedule_.ops().size(); ++id) frontier_.set_segments(id, plan_.segments(id));
}

void ScheduleRun::begin() {
  for (OpId id = 0; id < schedule_.ops().size(); ++id) touched_.push_back(id);
  drain();
}

void ScheduleRun::drain() {
  for (std::size_t next = 0; next < touched_.size(); ++next) {
    const OpId id = touched_[next];
    const std::uint32_t ready = frontier_.startable(id);
    if (ready == 0) continue;
    const std::uint32_t first = frontier_.started(id);
    frontier_.start(id, ready);
    if (schedule_.op(id).sends()) {
      result_.segments += ready;
      launch(id, first, ready);
    } else {
      end_segments(id, ready);
    }
  }
  touched_.clear();
}

void ScheduleRun::end_segments(OpId id, std::uint32_t segments) {
  result_.time = std::max(result_.time, now_);
  frontier_.finish(id, segments, [&](OpId later) { touched_.push_back(later); });
}

void ScheduleRun::sent(OpId id, Picos now) {
  now_ = now;
  end_segments(id, 1);
}

void ScheduleRun::arrived(OpId send, Picos now) {
  now_ = now;
  const OpId receive = schedule_.match(send);
  frontier_.arrive(receive);
  touched_.push_back(receive);
}

std::int64_t ScheduleRun::segment_bytes(OpId id, std::uint32_t segment) const {
  const std::int64_t length = plan_.bytes(id);
  const std::uint32_t segments = frontier_.segments(id);
  return plan_.segment_begin(length, segment + 1, segments) - plan_.segment_begin(length, segment, segments);
}

void ScheduleRun::use_link(const LinkInterval& interval, std::int64_t bytes) {
  result_.link_bytes[interval.link] += bytes;
  result_.link_busy[interval.link] = result_.link_busy[interval.link] + (interval.end - interval.begin);
  if (!options_.timeline) return;
  if (result_.timeline.size() < options_.timeline_max) {
    result_.timeline.push_back(interval);
  } else {
    ++result_.timeline_dropped;
  }
}

Result<SimulationResult> ScheduleRun::finish_result(std::uint64_t events) {
  for (OpId id = 0; id < schedule_.ops().size(); ++id) {
    if (!frontier_.done(id))
      return fail(Code::kInternal, "simulation stands still: {} never ended", schedule_.describe(id));
  }
  result_.events = events;
  for (LinkId link = 0; link < result_.link_bytes.size(); ++link) {
    if (result_.link_bytes[link] > 0) ++result_.links_used;
    if (result_.link_busy[link] > result_.link_busy[result_.busiest_link]) result_.busiest_link = link;
  }
  return std::move(result_);
}

}  // namespace hocket

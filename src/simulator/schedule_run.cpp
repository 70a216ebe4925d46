#include "simulator/schedule_run.h"

#include <utility>

namespace hocket {
namespace {

/// To whole picoseconds: the nearest, or the next one up when that lies below by more than the noise of a double.
Picos latency_time(Seconds latency) {
  Picos rounded = to_picos(latency);
  if (static_cast<double>(rounded.count) < latency.value * 1e12 * (1 - 1e-12)) ++rounded.count;
  return rounded;
}

/// What a message says of the ops that never ended.
constexpr std::size_t kNamedMax = 4;
/// Progress is told once in so many drains.
constexpr std::uint64_t kDrainsToTell = 1 << 16;

}  // namespace

ScheduleRun::ScheduleRun(const Plan& plan, const Topology& topology, const SimulateOptions& options, FlatRoutes routes)
    : plan_(plan),
      schedule_(plan.schedule()),
      topology_(topology),
      options_(options),
      routes_(std::move(routes)),
      overhead_(latency_time(options.per_message_overhead)),
      frontier_(schedule_, 0, static_cast<OpId>(schedule_.ops().size())),
      unit_free_(schedule_.rank_count()) {
  latency_.reserve(topology.links().size());
  for (const Link& link : topology.links()) latency_.push_back(latency_time(link.latency));
  result_.link_bytes.assign(topology.links().size(), 0);
  result_.link_busy.assign(topology.links().size(), Picos{});
  result_.model = options.model;
  result_.network_only = options.copy_rate.value <= 0 && options.reduce_rate.value <= 0;
  std::uint64_t segments = 0;
  for (OpId id = 0; id < schedule_.ops().size(); ++id) {
    frontier_.set_segments(id, plan_.segments(id));
    if (!schedule_.op(id).sends()) continue;
    ++result_.messages;
    segments += plan_.segments(id);
  }
  if (options.progress != nullptr) options.progress->expect(segments);
}

void ScheduleRun::tell_progress() {
  if (options_.progress != nullptr) options_.progress->set_done(result_.segments);
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
    const Op& op = schedule_.op(id);
    if (op.sends()) {
      result_.segments += ready;
      launch(id, first, ready);
    } else if (!result_.network_only && local_rate(op).value > 0) {
      start_local(id, first, ready);
    } else {
      end_segments(id, ready);
    }
  }
  touched_.clear();
  if (++drains_ % kDrainsToTell == 0) tell_progress();
}

BytesPerSecond ScheduleRun::local_rate(const Op& op) const {
  if (op.combines()) return options_.reduce_rate;
  return op.writes_target() ? options_.copy_rate : BytesPerSecond{};
}

void ScheduleRun::start_local(OpId id, std::uint32_t first, std::uint32_t count) {
  const BytesPerSecond rate = local_rate(schedule_.op(id));
  Picos& free = unit_free_[schedule_.rank_of(id)];
  for (std::uint32_t s = first; s < first + count && !stopped_; ++s) {
    const std::int64_t bytes = segment_bytes(id, s);
    if (static_cast<double>(bytes) / rate.value >= to_seconds(kStepMax).value) {
      stopped_ = true;
      return;
    }
    free = std::max(free, now_) + transfer_time({bytes}, rate);
    if (on_clock(free)) work(id, free);
  }
}

void ScheduleRun::end_segments(OpId id, std::uint32_t segments) {
  result_.time = std::max(result_.time, now_);
  frontier_.finish(id, segments, [&](OpId later) { touched_.push_back(later); });
}

void ScheduleRun::arrived(OpId send) {
  const OpId receive = schedule_.match(send);
  frontier_.arrive(receive);
  touched_.push_back(receive);
}

std::int64_t ScheduleRun::segment_bytes(OpId id, std::uint32_t segment) const {
  const std::int64_t length = plan_.bytes(id);
  const std::uint32_t segments = frontier_.segments(id);
  return plan_.segment_begin(length, segment + 1, segments) - plan_.segment_begin(length, segment, segments);
}

void ScheduleRun::use_link(const LinkInterval& interval, std::int64_t bytes, Picos busy) {
  std::int64_t& carried = result_.link_bytes[interval.link];
  if (__builtin_add_overflow(carried, bytes, &carried)) stopped_ = true;
  result_.link_busy[interval.link] = result_.link_busy[interval.link] + busy;
  if (!options_.timeline) return;
  if (result_.timeline.size() < options_.timeline_max) {
    result_.timeline.push_back(interval);
  } else {
    ++result_.timeline_dropped;
  }
}

bool ScheduleRun::on_clock(Picos time) {
  if (time > kClockEnd) stopped_ = true;
  return !stopped_;
}

Result<void> ScheduleRun::check_steps() const {
  for (OpId id = 0; id < schedule_.ops().size(); ++id) {
    if (!schedule_.op(id).sends()) continue;
    const double bytes = static_cast<double>(plan_.bytes(id)) / frontier_.segments(id) + 8;
    const bool packets = options_.model == NetworkModel::kPacket;
    const double parcel = packets ? std::min(bytes, static_cast<double>(options_.packet_payload.count)) +
                                        static_cast<double>(options_.head_flit.count)
                                  : bytes;
    if (parcel / routes_.slowest(id).value < to_seconds(kStepMax).value) continue;
    return fail(Code::kUnsupported,
                "{} holds its slowest link for {:.3g} s at a time; the simulator goes up to {:.3g} s",
                schedule_.describe(id), parcel / routes_.slowest(id).value, to_seconds(kStepMax).value);
  }
  return {};
}

Error ScheduleRun::stands_still() const {
  std::size_t waiting = 0;
  std::string names;
  for (OpId id = 0; id < schedule_.ops().size(); ++id) {
    if (frontier_.done(id) || ++waiting > kNamedMax) continue;
    names += fmt::format("{}{} ({} of {} segments)", waiting > 1 ? ", " : "", schedule_.describe(id),
                         frontier_.finished(id), frontier_.segments(id));
  }
  return {Code::kInternal,
          fmt::format("simulation stands still at {}: {} ops never ended: {}{}", format_seconds(to_seconds(now_)),
                      waiting, names, waiting > kNamedMax ? ", ..." : "")};
}

Result<SimulationResult> ScheduleRun::finish_result(std::uint64_t events) {
  if (stopped_) {
    return fail(Code::kUnsupported, "the simulated clock (it ends at {:.3g} s) or the byte counters ran over",
                to_seconds(kClockEnd).value);
  }
  for (OpId id = 0; id < schedule_.ops().size(); ++id) {
    if (!frontier_.done(id)) return tl::unexpected<Error>(stands_still());
  }
  tell_progress();
  result_.events = events;
  for (LinkId link = 0; link < result_.link_bytes.size(); ++link) {
    if (result_.link_bytes[link] > 0) ++result_.links_used;
    if (result_.link_busy[link] > result_.link_busy[result_.busiest_link]) result_.busiest_link = link;
  }
  return std::move(result_);
}

}  // namespace hocket

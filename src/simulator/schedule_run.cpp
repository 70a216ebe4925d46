#include "simulator/schedule_run.h"

#include <algorithm>
#include <utility>

#include "simulator/whole_ns.h"

namespace hocket {
namespace {

/// What a message says of the ops that never ended.
constexpr std::size_t kNamedMax = 4;
/// Progress is told once in so many drains.
constexpr std::uint64_t kDrainsToTell = 1 << 16;
/// Of memory for a reduction by AstraRules: two reads and a write.
constexpr std::int64_t kAstraAccesses = 3;

}  // namespace

ScheduleRun::ScheduleRun(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                         std::vector<FlatRoutes> routes)
    : topology_(*jobs.front().topology),
      options_(options),
      overhead_(to_picos_at_least(options.per_message_overhead)),
      unit_free_(topology_.vertices().size()) {
  const std::size_t links = topology_.links().size();
  latency_.reserve(links);
  rates_.reserve(links);
  for (LinkId link = 0; link < links; ++link) {
    latency_.push_back(to_picos_at_least(topology_.link(link).latency));
    const double factor = options.link_factors.empty() ? 1 : options.link_factors[link];
    rates_.push_back({topology_.link(link).bandwidth.value * factor});
  }
  SimulationResult& sum = result_.sum;
  sum.link_bytes.assign(links, 0);
  sum.link_busy.assign(links, Picos{});
  sum.model = options.model;
  sum.network_only = options.copy_rate.value <= 0 && options.reduce_rate.value <= 0 && !options.astra;
  result_.times.assign(jobs.size(), Picos{});
  if (jobs.size() > 1) result_.link_bytes.assign(jobs.size(), std::vector<std::int64_t>(links, 0));
  jobs_.reserve(jobs.size());
  OpId first = 0;
  std::uint64_t segments = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Schedule& schedule = jobs[j].plan->schedule();
    const auto ops = static_cast<OpId>(schedule.ops().size());
    jobs_.push_back({jobs[j].plan, &schedule, jobs[j].topology, first, std::move(routes[j]),
                     Frontier<std::uint32_t>(schedule, 0, ops)});
    for (OpId id = 0; id < ops; ++id) {
      jobs_.back().frontier.set_segments(id, jobs[j].plan->segments(id));
      if (!schedule.op(id).sends()) continue;
      ++sum.messages;
      segments += jobs[j].plan->segments(id);
    }
    first += ops;
  }
  if (options.progress != nullptr) options.progress->expect(segments);
}

void ScheduleRun::tell_progress() {
  if (options_.progress != nullptr) options_.progress->set_done(result_.sum.segments);
}

void ScheduleRun::begin() {
  for (OpId id = 0; id < op_count(); ++id) touched_.push_back(id);
  drain();
}

void ScheduleRun::drain() {
  for (std::size_t next = 0; next < touched_.size(); ++next) start_ready(touched_[next]);
  touched_.clear();
  if (++drains_ % kDrainsToTell == 0) tell_progress();
}

void ScheduleRun::start_ready(OpId id) {
  Job& job = job_of(id);
  const OpId own = id - job.first;
  const std::uint32_t ready = job.frontier.startable(own);
  if (ready == 0) return;
  const std::uint32_t first = job.frontier.started(own);
  job.frontier.start(own, ready);
  const Op& op = job.schedule->op(own);
  if (op.sends()) {
    result_.sum.segments += ready;
    launch(id, first, ready);
  } else if (!result_.sum.network_only && local_rate(op).value > 0) {
    start_local(id, first, ready);
  } else {
    end_segments(id, ready);
  }
}

BytesPerSecond ScheduleRun::local_rate(const Op& op) const {
  if (options_.astra) return op.combines() ? options_.astra->memory : BytesPerSecond{};
  if (op.combines()) return options_.reduce_rate;
  return op.writes_target() ? options_.copy_rate : BytesPerSecond{};
}

void ScheduleRun::start_local(OpId id, std::uint32_t first, std::uint32_t count) {
  const Job& job = job_of(id);
  const BytesPerSecond rate = local_rate(job.schedule->op(id - job.first));
  Picos& free = unit_free_[job.topology->vertex_of(job.schedule->rank_of(id - job.first))];
  for (std::uint32_t s = first; s < first + count && !stopped_; ++s) {
    const std::int64_t bytes = segment_bytes(id, s);
    if (static_cast<double>(bytes) / rate.value >= to_seconds(kStepMax).value) {
      stopped_ = true;
      return;
    }
    const Picos duration =
        options_.astra ? Picos{kAstraAccesses * whole_ns(ns_at(bytes, rate)).count} : transfer_time({bytes}, rate);
    free = std::max(free, now_) + duration;
    if (on_clock(free)) work(id, free);
  }
}

void ScheduleRun::end_segments(OpId id, std::uint32_t segments) {
  const std::size_t index = index_of(id);
  Job& job = jobs_[index];
  result_.times[index] = std::max(result_.times[index], now_);
  job.frontier.finish(id - job.first, segments, [&](OpId later) { touched_.push_back(later + job.first); });
}

void ScheduleRun::arrived(OpId send) {
  Job& job = job_of(send);
  const OpId receive = job.schedule->match(send - job.first);
  job.frontier.arrive(receive);
  touched_.push_back(receive + job.first);
}

std::int64_t ScheduleRun::segment_bytes(OpId id, std::uint32_t segment) const {
  const Job& job = job_of(id);
  const std::int64_t length = job.plan->bytes(id - job.first);
  const std::uint32_t segments = job.frontier.segments(id - job.first);
  return job.plan->segment_begin(length, segment + 1, segments) - job.plan->segment_begin(length, segment, segments);
}

void ScheduleRun::use_link(const LinkInterval& interval, std::int64_t bytes, Picos busy) {
  SimulationResult& sum = result_.sum;
  std::int64_t& carried = sum.link_bytes[interval.link];
  if (__builtin_add_overflow(carried, bytes, &carried)) stopped_ = true;
  sum.link_busy[interval.link] = sum.link_busy[interval.link] + busy;
  if (jobs_.size() > 1) result_.link_bytes[index_of(interval.op)][interval.link] += bytes;
  if (!options_.timeline) return;
  if (sum.timeline.size() < options_.timeline_max) {
    sum.timeline.push_back(interval);
  } else {
    ++sum.timeline_dropped;
  }
}

bool ScheduleRun::on_clock(Picos time) {
  if (time > kClockEnd) stopped_ = true;
  return !stopped_;
}

Result<void> ScheduleRun::check_steps() const {
  for (const Job& job : jobs_) HOCKET_TRY(check_steps_of(job));
  return {};
}

Result<void> ScheduleRun::check_steps_of(const Job& job) const {
  double slowed = 1;
  for (const double factor : options_.link_factors) slowed = std::min(slowed, factor);
  for (OpId id = 0; id < job.schedule->ops().size(); ++id) {
    if (!job.schedule->op(id).sends()) continue;
    const double bytes = static_cast<double>(job.plan->bytes(id)) / job.frontier.segments(id) + 8;
    const bool packets = options_.model == NetworkModel::kPacket;
    const double parcel = packets ? std::min(bytes, static_cast<double>(options_.packet_payload.count)) +
                                        static_cast<double>(options_.head_flit.count)
                                  : bytes;
    const double held = parcel / (job.routes.slowest(id).value * slowed);
    if (held < to_seconds(kStepMax).value) continue;
    return fail(Code::kUnsupported,
                "{} holds its slowest link for {:.3g} s at a time; the simulator goes up to {:.3g} s",
                job.schedule->describe(id), held, to_seconds(kStepMax).value);
  }
  return {};
}

Error ScheduleRun::stands_still(const Job& job) const {
  std::size_t waiting = 0;
  std::string names;
  for (OpId id = 0; id < job.schedule->ops().size(); ++id) {
    if (job.frontier.done(id) || ++waiting > kNamedMax) continue;
    names += fmt::format("{}{} ({} of {} segments)", waiting > 1 ? ", " : "", job.schedule->describe(id),
                         job.frontier.finished(id), job.frontier.segments(id));
  }
  return {Code::kInternal,
          fmt::format("simulation stands still at {}: {} ops never ended: {}{}", format_seconds(to_seconds(now_)),
                      waiting, names, waiting > kNamedMax ? ", ..." : "")};
}

Result<JointResult> ScheduleRun::finish_result(std::uint64_t events) {
  if (stopped_) {
    return fail(Code::kUnsupported, "the simulated clock (it ends at {:.3g} s) or the byte counters ran over",
                to_seconds(kClockEnd).value);
  }
  for (const Job& job : jobs_) {
    for (OpId id = 0; id < job.schedule->ops().size(); ++id) {
      if (!job.frontier.done(id)) return tl::unexpected<Error>(stands_still(job));
    }
  }
  tell_progress();
  SimulationResult& sum = result_.sum;
  sum.events = events;
  for (const Picos time : result_.times) sum.time = std::max(sum.time, time);
  for (LinkId link = 0; link < sum.link_bytes.size(); ++link) {
    if (sum.link_bytes[link] > 0) ++sum.links_used;
    if (sum.link_busy[link] > sum.link_busy[sum.busiest_link]) sum.busiest_link = link;
  }
  return std::move(result_);
}

}  // namespace hocket

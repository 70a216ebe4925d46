// The fluid model: segments on their way are flows that share links by max-min fairness (progressive filling). Rates
// are set anew at every start and end; bytes are integrated in between. Latency is added after the last byte.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/event_queue.h"
#include "simulator/schedule_run.h"

namespace hocket {
namespace {

struct Flow {
  OpId op = kNoOp;
  double left = 0;  // bytes
  double rate = 0;  // bytes per second
  std::int64_t bytes = 0;
  Picos begin;

  /// What repeated addition may get wrong: far less than kRounding of the bound check.
  [[nodiscard]] double noise() const { return static_cast<double>(bytes) * 1e-12; }
};

struct FluidEvent {
  enum class What : std::uint8_t { kStart, kArrived, kWorked };

  OpId op = kNoOp;
  What what = What::kArrived;
};

class FluidSimulation final : public ScheduleRun {
 public:
  FluidSimulation(std::span<const SimulatedJob> jobs, const SimulateOptions& options, std::vector<FlatRoutes> routes)
      : ScheduleRun(jobs, options, std::move(routes)),
        waiting_(op_count(), 0),
        next_segment_(op_count(), 0),
        capacity_(topology_.links().size()),
        flows_on_(topology_.links().size(), 0),
        tight_(topology_.links().size(), false) {}

  Result<JointResult> run() {
    HOCKET_TRY(check_steps());
    begin();
    while ((!flows_.empty() || !queue_.empty()) && !stopped()) {
      if (changed_) share_links();
      if (rates_set_ > options_.fluid_rates_max) return too_many_flows();
      const Picos next = next_time();
      if (!on_clock(next)) break;
      advance(next);
      while (!queue_.empty() && queue_.front_time() == now_) handle(queue_.pop().payload);
      end_flows();
      drain();
      ++events_;
    }
    return finish_result(events_);
  }

 private:
  void work(OpId id, Picos end) override { queue_.push(end, {id, FluidEvent::What::kWorked}); }

  /// How many flows meet is known only when they do.
  [[nodiscard]] tl::unexpected<Error> too_many_flows() const {
    return fail(Code::kResourceExhausted,
                "'{}' of {}: at {} of simulated time (flows then: {}) rates have been set {} times, at most "
                "{} in the fluid model; take a smaller size, longer segments or another model",
                plan_of(0).schedule().algorithm(), format_bytes(plan_of(0).what().bytes()),
                format_seconds(to_seconds(now_)), flows_.size(), rates_set_, options_.fluid_rates_max);
  }

  void launch(OpId id, std::uint32_t, std::uint32_t count) override {
    waiting_[id] += count;
    if (waiting_[id] == count) begin_segment(id);
  }

  void begin_segment(OpId id) {
    if (overhead_.count == 0) return start_flow(id);
    if (on_clock(now_ + overhead_)) queue_.push(now_ + overhead_, {id, FluidEvent::What::kStart});
  }

  void start_flow(OpId id) {
    const std::int64_t bytes = segment_bytes(id, next_segment_[id]++);
    flows_.push_back({id, static_cast<double>(bytes), 0, bytes, now_});
    changed_ = true;
  }

  void handle(const FluidEvent& event) {
    switch (event.what) {
      case FluidEvent::What::kStart:
        return start_flow(event.op);
      case FluidEvent::What::kArrived:
        return arrived(event.op);
      case FluidEvent::What::kWorked:
        return worked(event.op);
    }
  }

  /// Progressive filling over the links that flows use.
  void share_links() {
    used_.clear();
    for (Flow& flow : flows_) {
      flow.rate = -1;
      for (const LinkId link : route_of(flow.op)) {
        if (flows_on_[link]++ == 0) {
          used_.push_back(link);
          capacity_[link] = rates_[link].value;
        }
      }
    }
    for (std::size_t open = flows_.size(); open > 0;) {
      rates_set_ += flows_.size();
      double share = std::numeric_limits<double>::infinity();
      for (const LinkId link : used_) {
        if (flows_on_[link] > 0) share = std::min(share, capacity_[link] / flows_on_[link]);
      }
      open -= fix_flows(share);
    }
    for (const LinkId link : used_) flows_on_[link] = 0;
    changed_ = false;
  }

  /// Every link that `share` fills (rounding aside) fixes the rates of the flows that cross it.
  std::size_t fix_flows(double share) {
    constexpr double kSame = 1 + 1e-12;
    for (const LinkId link : used_)
      tight_[link] = flows_on_[link] > 0 && capacity_[link] / flows_on_[link] <= share * kSame;
    std::size_t fixed = 0;
    for (Flow& flow : flows_) {
      const std::span<const LinkId> route = route_of(flow.op);
      if (flow.rate >= 0 || std::none_of(route.begin(), route.end(), [&](LinkId l) { return tight_[l]; })) continue;
      flow.rate = share;
      ++fixed;
      for (const LinkId link : route) {
        capacity_[link] = std::max(0.0, capacity_[link] - share);
        --flows_on_[link];
      }
    }
    return fixed;
  }

  /// When the next flow or event ends, or a time past the clock.
  [[nodiscard]] Picos next_time() const {
    constexpr double kFar = static_cast<double>(kClockEnd.count) / 2 * 3;
    std::int64_t next = queue_.empty() ? std::numeric_limits<std::int64_t>::max() : queue_.front_time().count;
    for (const Flow& flow : flows_) {
      const double left = flow.left - flow.noise();
      const double picos = left <= 0 ? 0 : std::ceil(left / flow.rate * 1e12);
      const auto wait = static_cast<std::int64_t>(std::min(picos, kFar));
      next = std::min(next, wait > kClockEnd.count - now_.count ? kClockEnd.count + 1 : now_.count + wait);
    }
    return {next};
  }

  void advance(Picos to) {
    const double seconds = to_seconds(to - now_).value;
    for (Flow& flow : flows_) flow.left -= flow.rate * seconds;
    now_ = to;
  }

  void end_flows() {
    ended_.clear();
    const auto done = [](const Flow& flow) { return flow.rate > 0 && flow.left <= 2 * flow.noise(); };
    for (const Flow& flow : flows_) {
      if (done(flow)) ended_.push_back(flow);
    }
    if (ended_.empty()) return;
    changed_ = true;
    flows_.erase(std::remove_if(flows_.begin(), flows_.end(), done), flows_.end());
    for (const Flow& flow : ended_) {
      Picos arrival = now_;
      for (const LinkId link : route_of(flow.op)) {
        use_link({link, flow.op, flow.begin, now_}, flow.bytes, transfer_time({flow.bytes}, rates_[link]));
        arrival = arrival + latency_[link];
        if (!on_clock(arrival)) return;
      }
      queue_.push(arrival, {flow.op, FluidEvent::What::kArrived});
      sent(flow.op);
      if (--waiting_[flow.op] > 0) begin_segment(flow.op);
    }
  }

  std::vector<std::uint32_t> waiting_;       // per op: segments started but not through
  std::vector<std::uint32_t> next_segment_;  // per op
  std::vector<double> capacity_;             // per link: left to share
  std::vector<std::uint32_t> flows_on_;      // per link: flows without a rate yet
  std::vector<char> tight_;                  // per link
  std::vector<LinkId> used_;
  std::vector<Flow> flows_;
  std::vector<Flow> ended_;
  EventQueue<FluidEvent> queue_;
  std::uint64_t events_ = 0;
  std::uint64_t rates_set_ = 0;  // of flows, by rounds of filling
  bool changed_ = false;         // flows came or went since rates were set
};

}  // namespace

Result<JointResult> simulate_fluid(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                   std::vector<FlatRoutes> routes) {
  return FluidSimulation(jobs, options, std::move(routes)).run();
}

}  // namespace hocket

// The fluid model: segments on their way are flows that share links by max-min fairness (progressive filling). Rates
// are set anew at every start and end; bytes are integrated in between. Latency is added after the last byte.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/event_queue.h"
#include "simulator/routes.h"
#include "simulator/schedule_run.h"

namespace hocket {
namespace {

struct Flow {
  OpId op = kNoOp;
  double left = 0;  // bytes
  double rate = 0;  // bytes per second
  std::int64_t bytes = 0;
  Picos begin;
};

class FluidSimulation final : public ScheduleRun {
 public:
  FluidSimulation(const Plan& plan, const Topology& topology, const SimulateOptions& options, FlatRoutes routes)
      : ScheduleRun(plan, topology, options),
        routes_(std::move(routes)),
        waiting_(schedule_.ops().size(), 0),
        next_segment_(schedule_.ops().size(), 0),
        capacity_(topology.links().size()),
        flows_on_(topology.links().size(), 0) {}

  Result<SimulationResult> run() {
    begin();
    while (!flows_.empty() || !arrivals_.empty()) {
      share_links();
      advance(next_time());
      while (!arrivals_.empty() && arrivals_.front_time() == now_) arrived(arrivals_.pop().payload, now_);
      end_flows();
      drain();
      ++events_;
    }
    return finish_result(events_);
  }

 private:
  void launch(OpId id, std::uint32_t, std::uint32_t count) override {
    waiting_[id] += count;
    if (waiting_[id] == count) start_flow(id);
  }

  void start_flow(OpId id) {
    const std::int64_t bytes = segment_bytes(id, next_segment_[id]++);
    flows_.push_back({id, static_cast<double>(bytes), 0, bytes, now_});
  }

  /// Progressive filling over the links that flows use.
  void share_links() {
    used_.clear();
    for (Flow& flow : flows_) {
      flow.rate = -1;
      for (const LinkId link : routes_.of(flow.op)) {
        if (flows_on_[link]++ == 0) {
          used_.push_back(link);
          capacity_[link] = topology_.link(link).bandwidth.value;
        }
      }
    }
    std::size_t open = flows_.size();
    while (open > 0) {
      LinkId tightest = used_.front();
      double share = std::numeric_limits<double>::infinity();
      for (const LinkId link : used_) {
        if (flows_on_[link] > 0 && capacity_[link] / flows_on_[link] < share) {
          share = capacity_[link] / flows_on_[link];
          tightest = link;
        }
      }
      open -= fix_flows(tightest, share);
    }
    for (const LinkId link : used_) flows_on_[link] = 0;
  }

  std::size_t fix_flows(LinkId tightest, double share) {
    std::size_t fixed = 0;
    for (Flow& flow : flows_) {
      const std::span<const LinkId> route = routes_.of(flow.op);
      if (flow.rate >= 0 || std::find(route.begin(), route.end(), tightest) == route.end()) continue;
      flow.rate = share;
      ++fixed;
      for (const LinkId link : route) {
        capacity_[link] = std::max(0.0, capacity_[link] - share);
        --flows_on_[link];
      }
    }
    return fixed;
  }

  [[nodiscard]] Picos next_time() const {
    std::int64_t next = arrivals_.empty() ? std::numeric_limits<std::int64_t>::max() : arrivals_.front_time().count;
    for (const Flow& flow : flows_) {
      const double picos = flow.left <= 0 ? 0 : std::ceil(flow.left / flow.rate * 1e12);
      next = std::min(next, now_.count + static_cast<std::int64_t>(picos));
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
    // What a flow can move within half a picosecond is rounding.
    const auto done = [](const Flow& flow) { return flow.left <= flow.rate * 0.5e-12; };
    for (const Flow& flow : flows_) {
      if (done(flow)) ended_.push_back(flow);
    }
    flows_.erase(std::remove_if(flows_.begin(), flows_.end(), done), flows_.end());
    for (const Flow& flow : ended_) {
      Picos latency;
      for (const LinkId link : routes_.of(flow.op)) {
        const Picos held = transfer_time({flow.bytes}, topology_.link(link).bandwidth);
        use_link({link, flow.op, flow.begin, std::min(now_, flow.begin + held)}, flow.bytes);
        latency = latency + to_picos(topology_.link(link).latency);
      }
      arrivals_.push(now_ + latency, flow.op);
      sent(flow.op, now_);
      if (--waiting_[flow.op] > 0) start_flow(flow.op);
    }
  }

  FlatRoutes routes_;
  std::vector<std::uint32_t> waiting_;       // per op: segments started but not through
  std::vector<std::uint32_t> next_segment_;  // per op
  std::vector<double> capacity_;
  std::vector<std::uint32_t> flows_on_;
  std::vector<LinkId> used_;
  std::vector<Flow> flows_;
  std::vector<Flow> ended_;
  EventQueue<OpId> arrivals_;
  Picos now_;
  std::uint64_t events_ = 0;
};

}  // namespace

Result<SimulationResult> simulate_fluid(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  HOCKET_TRY_ASSIGN(FlatRoutes routes, FlatRoutes::resolve(plan.schedule(), topology));
  return FluidSimulation(plan, topology, options, std::move(routes)).run();
}

}  // namespace hocket

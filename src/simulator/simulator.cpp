// The message and packet models. A parcel is a segment (message) or a packet on its way; per link it meets it makes one
// event, at the time its head arrives there. Then the link is taken from max(head arrival, link free) until the tail
// has left: at least size / bandwidth, and not before the tail has come from the link before.
#include "simulator/simulator.h"

#include <algorithm>

#include "base/event_queue.h"
#include "schedule/frontier.h"
#include "simulator/routes.h"

namespace hocket {
namespace {

constexpr std::uint8_t kLastOfSegment = 1;

struct Parcel {
  OpId op = kNoOp;
  std::uint16_t hop = 0;
  std::uint8_t flags = 0;
  enum class What : std::uint8_t { kHead, kSent, kArrived } what = What::kHead;
  std::int64_t bytes = 0;
  Picos tail;  // when the tail is at the link's start
};

class Simulation {
 public:
  Simulation(const Plan& plan, const Topology& topology, const SimulateOptions& options, FlatRoutes routes)
      : plan_(plan),
        schedule_(plan.schedule()),
        topology_(topology),
        options_(options),
        routes_(std::move(routes)),
        frontier_(schedule_, 0, static_cast<OpId>(schedule_.ops().size())),
        free_(topology.links().size()) {
    for (const Link& link : topology.links()) latency_.push_back(to_picos(link.latency));
    result_.link_bytes.assign(topology.links().size(), 0);
    result_.link_busy.assign(topology.links().size(), Picos{});
    result_.model = options.model;
  }

  Result<SimulationResult> run() {
    const auto count = static_cast<OpId>(schedule_.ops().size());
    for (OpId id = 0; id < count; ++id) frontier_.set_segments(id, plan_.segments(id));
    for (OpId id = 0; id < count; ++id) touched_.push_back(id);
    std::reverse(touched_.begin(), touched_.end());
    drain();
    while (!queue_.empty()) {
      const auto event = queue_.pop();
      handle(event.payload);
      drain();
    }
    for (OpId id = 0; id < count; ++id) {
      if (!frontier_.done(id))
        return fail(Code::kInternal, "simulation stands still: {} never ended", schedule_.describe(id));
    }
    summarise();
    return std::move(result_);
  }

 private:
  /// Starts whatever the ops touched since allow.
  void drain() {
    while (!touched_.empty()) {
      const OpId id = touched_.back();
      touched_.pop_back();
      const std::uint32_t ready = frontier_.startable(id);
      if (ready == 0) continue;
      const std::uint32_t first = frontier_.started(id);
      frontier_.start(id, ready);
      if (schedule_.op(id).sends()) {
        for (std::uint32_t s = first; s < first + ready; ++s) launch(id, s);
      } else {
        finish(id, ready);
      }
    }
  }

  void finish(OpId id, std::uint32_t segments) {
    end_ = std::max(end_, queue_.now());
    frontier_.finish(id, segments, [&](OpId later) { touched_.push_back(later); });
  }

  void launch(OpId id, std::uint32_t segment) {
    const std::int64_t length = plan_.bytes(id);
    const std::uint32_t segments = frontier_.segments(id);
    std::int64_t bytes =
        plan_.segment_begin(length, segment + 1, segments) - plan_.segment_begin(length, segment, segments);
    ++result_.segments;
    const std::int64_t payload = options_.model == NetworkModel::kPacket ? options_.packet_payload.count : bytes;
    const std::int64_t head = options_.model == NetworkModel::kPacket ? options_.head_flit.count : 0;
    do {
      const std::int64_t part = std::min(bytes, payload);
      bytes -= part;
      Parcel parcel{
          .op = id, .flags = bytes == 0 ? kLastOfSegment : std::uint8_t{0}, .bytes = part == 0 ? 0 : part + head};
      parcel.tail = queue_.now();
      queue_.push(queue_.now(), parcel);
    } while (bytes > 0);
  }

  void handle(Parcel parcel) {
    switch (parcel.what) {
      case Parcel::What::kHead:
        return enter_link(parcel);
      case Parcel::What::kSent:
        return finish(parcel.op, 1);
      case Parcel::What::kArrived:
        frontier_.arrive(schedule_.match(parcel.op));
        touched_.push_back(schedule_.match(parcel.op));
    }
  }

  void enter_link(Parcel parcel) {
    const std::span<const LinkId> route = routes_.of(parcel.op);
    const LinkId link = route[parcel.hop];
    const Picos start = std::max(queue_.now(), free_[link]);
    const Picos end = std::max(start + transfer_time({parcel.bytes}, topology_.link(link).bandwidth), parcel.tail);
    free_[link] = end;
    result_.link_bytes[link] += parcel.bytes;
    result_.link_busy[link] = result_.link_busy[link] + (end - start);
    record({link, parcel.op, start, end});
    const bool last = (parcel.flags & kLastOfSegment) != 0;
    if (parcel.hop == 0 && last) queue_.push(end, {.op = parcel.op, .what = Parcel::What::kSent});
    if (parcel.hop + 1U < route.size()) {
      ++parcel.hop;
      parcel.tail = end + latency_[link];
      queue_.push(start + latency_[link], parcel);
    } else if (last) {
      queue_.push(end + latency_[link], {.op = parcel.op, .what = Parcel::What::kArrived});
    }
  }

  void record(const LinkInterval& interval) {
    if (!options_.timeline) return;
    if (result_.timeline.size() < options_.timeline_max) {
      result_.timeline.push_back(interval);
    } else {
      ++result_.timeline_dropped;
    }
  }

  void summarise() {
    result_.time = end_;
    result_.events = queue_.count();
    for (LinkId link = 0; link < result_.link_bytes.size(); ++link) {
      if (result_.link_bytes[link] > 0) ++result_.links_used;
      if (result_.link_busy[link] > result_.link_busy[result_.busiest_link]) result_.busiest_link = link;
    }
  }

  const Plan& plan_;
  const Schedule& schedule_;
  const Topology& topology_;
  const SimulateOptions& options_;
  FlatRoutes routes_;
  Frontier<std::uint32_t> frontier_;
  EventQueue<Parcel> queue_;
  std::vector<Picos> free_;
  std::vector<Picos> latency_;
  std::vector<OpId> touched_;
  Picos end_;
  SimulationResult result_;
};

/// Rounding of rates to picoseconds may shift a time by this fraction, never more.
constexpr double kRounding = 1e-9;

}  // namespace

std::string_view name_of(NetworkModel model) {
  switch (model) {
    case NetworkModel::kMessage:
      return "message";
    case NetworkModel::kPacket:
      return "packet";
    case NetworkModel::kFluid:
      return "fluid";
  }
  return "?";
}

Result<SimulationResult> simulate(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  if (options.model == NetworkModel::kFluid)
    return fail(Code::kUnsupported, "the fluid network model is not part of this build");
  HOCKET_TRY_ASSIGN(FlatRoutes routes, FlatRoutes::resolve(plan.schedule(), topology));
  HOCKET_TRY_ASSIGN(SimulationResult result, Simulation(plan, topology, options, std::move(routes)).run());
  result.bound = options.bound != nullptr ? *options.bound : lower_bound(topology, plan.what());
  if (to_seconds(result.time).value < result.bound.time.value * (1 - kRounding) - 1e-12) {
    return fail(Code::kInternal, "simulated {} s lies below the lower bound {} s ({}: {})",
                to_seconds(result.time).value, result.bound.time.value, result.bound.rule, result.bound.limit);
  }
  return result;
}

}  // namespace hocket

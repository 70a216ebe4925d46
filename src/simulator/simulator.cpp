// The message and packet models. A parcel is a segment (message) or a packet on its way; per link it meets it makes one
// event, at the time its head arrives there. Then the link is taken from max(head arrival, link free) until the tail
// has left: at least size / bandwidth, and not before the tail has come from the link before.
#include "simulator/simulator.h"

#include <algorithm>

#include "base/event_queue.h"
#include "simulator/routes.h"
#include "simulator/schedule_run.h"

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

class QueueSimulation final : public ScheduleRun {
 public:
  QueueSimulation(const Plan& plan, const Topology& topology, const SimulateOptions& options, FlatRoutes routes)
      : ScheduleRun(plan, topology, options), routes_(std::move(routes)), free_(topology.links().size()) {
    for (const Link& link : topology.links()) latency_.push_back(to_picos(link.latency));
  }

  Result<SimulationResult> run() {
    begin();
    while (!queue_.empty()) {
      handle(queue_.pop().payload);
      drain();
    }
    return finish_result(queue_.count());
  }

 private:
  void launch(OpId id, std::uint32_t first, std::uint32_t count) override {
    for (std::uint32_t s = first; s < first + count; ++s) launch_segment(id, segment_bytes(id, s));
  }

  void launch_segment(OpId id, std::int64_t bytes) {
    const bool packets = options_.model == NetworkModel::kPacket;
    const std::int64_t payload = packets ? options_.packet_payload.count : bytes;
    const std::int64_t head = packets ? options_.head_flit.count : 0;
    do {
      const std::int64_t part = std::min(bytes, payload);
      bytes -= part;
      const std::uint8_t flags = bytes == 0 ? kLastOfSegment : std::uint8_t{0};
      Parcel parcel{.op = id, .flags = flags, .bytes = part == 0 ? 0 : part + head};
      parcel.tail = queue_.now();
      queue_.push(queue_.now(), parcel);
    } while (bytes > 0);
  }

  void handle(const Parcel& parcel) {
    switch (parcel.what) {
      case Parcel::What::kHead:
        return enter_link(parcel);
      case Parcel::What::kSent:
        return sent(parcel.op, queue_.now());
      case Parcel::What::kArrived:
        return arrived(parcel.op, queue_.now());
    }
  }

  void enter_link(Parcel parcel) {
    const std::span<const LinkId> route = routes_.of(parcel.op);
    const LinkId link = route[parcel.hop];
    const Picos start = std::max(queue_.now(), free_[link]);
    const Picos end = std::max(start + transfer_time({parcel.bytes}, topology_.link(link).bandwidth), parcel.tail);
    free_[link] = end;
    use_link({link, parcel.op, start, end}, parcel.bytes);
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

  FlatRoutes routes_;
  EventQueue<Parcel> queue_;
  std::vector<Picos> free_;
  std::vector<Picos> latency_;
};

/// Rounding of rates to picoseconds may shift a time by this fraction, never more.
constexpr double kRounding = 1e-9;

Result<SimulationResult> simulate_queues(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  HOCKET_TRY_ASSIGN(FlatRoutes routes, FlatRoutes::resolve(plan.schedule(), topology));
  return QueueSimulation(plan, topology, options, std::move(routes)).run();
}

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
  Result<SimulationResult> simulated = options.model == NetworkModel::kFluid ? simulate_fluid(plan, topology, options)
                                                                             : simulate_queues(plan, topology, options);
  HOCKET_TRY_ASSIGN(SimulationResult result, std::move(simulated));
  result.bound = options.bound != nullptr ? *options.bound : lower_bound(topology, plan.what());
  if (to_seconds(result.time).value < result.bound.time.value * (1 - kRounding) - 1e-12) {
    return fail(Code::kInternal, "simulated {} s lies below the lower bound {} s ({}: {})",
                to_seconds(result.time).value, result.bound.time.value, result.bound.rule, result.bound.limit);
  }
  return result;
}

}  // namespace hocket

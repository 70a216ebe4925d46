// The message and packet models. A parcel is a segment (message) or a packet on its way; per link it meets it makes one
// event, at the time its head arrives there. Then the link is taken from max(head arrival, link free) until the tail
// has left: at least size / bandwidth, and not before the tail has come from the link before. Messages take a link in
// the order in which they come; a sender hands its link one segment at a time, of those that may leave the one with the
// lowest number, so that ops which share a link keep pace. Packets take a link in turns, one from each input that has
// some waiting; a sender is one input, whose packets come one by one, each when the one before has left. In lock step
// a send waits for its step (simulator/step_gate.h) and links take the packet of the earliest step first.
#include <algorithm>
#include <optional>

#include "base/event_queue.h"
#include "simulator/round_robin.h"
#include "simulator/schedule_run.h"
#include "simulator/step_gate.h"
#include "simulator/waiting_sends.h"
#include "simulator/whole_ns.h"

namespace hocket {
namespace {

constexpr std::uint8_t kFirstOfSegment = 1;
constexpr std::uint8_t kLastOfSegment = 2;

struct Parcel {
  enum class What : std::uint8_t { kHead, kSent, kArrived, kWorked, kFree, kStep };

  OpId op = kNoOp;        // kFree: the link, kStep: the rank
  std::uint16_t hop = 0;  // kFree: 0 for a packet of the sender there
  std::uint8_t flags = 0;
  What what = What::kHead;
  std::int64_t bytes = 0;
  Picos tail;  // when the tail is at the link's start
};

constexpr std::uint32_t kNone = 0xffffffffU;

/// Segments [next, end) of a send that wait to be cut into packets.
struct Waiting {
  OpId op = kNoOp;
  std::uint32_t next = 0;
  std::uint32_t end = 0;
  std::uint32_t behind = kNone;  // index into the pool
};

/// Segments [next, end) of a send may leave; it waits for its link when there are any.
struct Ready {
  std::uint32_t next = 0;
  std::uint32_t end = 0;
  bool waits = false;
};

/// What sends into one first link: segment after segment in the order they were launched, packet after packet.
struct Port {
  std::uint32_t first = kNone;  // of the queue, indices into the pool
  std::uint32_t last = kNone;
  std::int64_t left = 0;  // bytes not cut yet of the segment at the front
  bool active = false;    // a packet of it waits for the link, and the next follows by itself
};

/// The ports' queues; their entries are reused.
class PortQueues {
 public:
  explicit PortQueues(std::size_t links) : ports_(links) {}

  [[nodiscard]] Port& port(LinkId link) { return ports_[link]; }
  [[nodiscard]] Waiting& front(LinkId link) { return pool_[ports_[link].first]; }
  [[nodiscard]] bool empty(LinkId link) const { return ports_[link].first == kNone; }

  void push(LinkId link, const Waiting& waiting) {
    std::uint32_t at = free_;
    if (at == kNone) {
      at = static_cast<std::uint32_t>(pool_.size());
      pool_.emplace_back();
    } else {
      free_ = pool_[at].behind;
    }
    pool_[at] = waiting;
    Port& port = ports_[link];
    (port.first == kNone ? port.first : pool_[port.last].behind) = at;
    port.last = at;
  }

  void pop(LinkId link) {
    const std::uint32_t at = ports_[link].first;
    ports_[link].first = pool_[at].behind;
    pool_[at].behind = free_;
    free_ = at;
  }

 private:
  std::vector<Port> ports_;  // per link
  std::vector<Waiting> pool_;
  std::uint32_t free_ = kNone;
};

class QueueSimulation final : public ScheduleRun {
 public:
  QueueSimulation(std::span<const SimulatedJob> jobs, const SimulateOptions& options, std::vector<FlatRoutes> routes)
      : ScheduleRun(jobs, options, std::move(routes)),
        free_(topology_.links().size()),
        packets_(options.model == NetworkModel::kPacket),
        endpoint_{options.astra ? options.astra->endpoint_ns * 1000 : 0},
        ready_(packets_ ? 0 : op_count()),
        waiting_sends_(packets_ ? 0 : topology_.links().size()),
        ports_(packets_ ? topology_.links().size() : 0),
        held_(packets_ ? topology_.links().size() : 0, false),
        waiting_(packets_ ? topology_.links().size() : 0) {
    if (options.interfaces.injection != Injection::kWhenReady)
      gate_.emplace(plan_of(0), topology_, options, routes_of(0));
  }

  Result<JointResult> run() {
    HOCKET_TRY(check_steps());
    if (gate_) {
      HOCKET_TRY(StepGate::check(plan_of(0)));
      gate_->start(now_);
    }
    begin();
    pass_gate();
    choose_sends();
    while (!queue_.empty() && !stopped()) {
      const EventQueue<Parcel>::Event event = queue_.pop();
      now_ = event.time;
      handle(event.payload);
      drain();
      pass_gate();
      if (queue_.empty() || queue_.front_time().count > now_.count) choose_sends();
    }
    return finish_result(queue_.count());
  }

 private:
  void work(OpId id, Picos end) override { queue_.push(end, {.op = id, .what = Parcel::What::kWorked}); }

  /// Does what the gate asked for since the last time.
  void pass_gate() {
    if (!gate_) return;
    for (const OpId id : gate_->take_releases()) launch(id, 0, 1);
    for (const StepGate::Timer& timer : gate_->take_timers()) {
      if (on_clock(timer.time)) queue_.push(timer.time, {.op = timer.rank, .what = Parcel::What::kStep});
    }
  }

  void launch(OpId id, std::uint32_t first, std::uint32_t count) override {
    if (packets_) {
      if (gate_ && !gate_->admit(id, now_)) return;
      const LinkId link = route_of(id).front();
      ports_.push(link, {id, first, first + count});
      if (!ports_.port(link).active) inject(link, now_);
      return;
    }
    ready_[id].end = first + count;
    if (ready_[id].waits) return;
    const LinkId link = route_of(id).front();
    waiting_sends_.queue(link).push({first, id});
    ready_[id].waits = true;
    if (!waiting_sends_.busy(link)) undecided_.push_back(link);
  }

  /// A link chooses when all that happens at one instant is known, so that the order of events makes no difference.
  void choose_sends() {
    for (const LinkId link : undecided_) {
      if (!waiting_sends_.busy(link)) send_next(link);
    }
    undecided_.clear();
  }

  /// The next segment of a sender goes to its first link.
  void send_next(LinkId link) {
    if (!waiting_sends_.start(link)) return;
    const OpId id = waiting_sends_.queue(link).lowest().op;
    Ready& ready = ready_[id];
    const std::int64_t bytes = segment_bytes(id, ready.next++);
    ready.waits = ready.next < ready.end;
    waiting_sends_.queue(link).replace_lowest({ready.next, id}, ready.waits);
    enter_link({id, 0, kFirstOfSegment | kLastOfSegment, Parcel::What::kHead, bytes, now_});
  }

  /// The next packet of a port meets its link.
  void inject(LinkId link, Picos when) {
    Port& port = ports_.port(link);
    Waiting& waiting = ports_.front(link);
    Parcel parcel{.op = waiting.op, .tail = when};
    if (port.left == 0) {
      port.left = segment_bytes(waiting.op, waiting.next);
      parcel.flags |= kFirstOfSegment;
    }
    const std::int64_t part = std::min(port.left, options_.packet_payload.count);
    const bool headed =
        options_.interfaces.flow_control == FlowControl::kPacket || (parcel.flags & kFirstOfSegment) != 0;
    parcel.bytes = part + (headed ? options_.head_flit.count : 0);
    port.left -= part;
    port.active = true;
    if (port.left == 0) {
      parcel.flags |= kLastOfSegment;
      if (++waiting.next == waiting.end) ports_.pop(link);
    }
    queue_.push(when, parcel);
  }

  void handle(const Parcel& parcel) {
    switch (parcel.what) {
      case Parcel::What::kHead:
        return packets_ ? meet_link(parcel) : enter_link(parcel);
      case Parcel::What::kSent:
        if (!packets_) {
          waiting_sends_.release(route_of(parcel.op).front());
          undecided_.push_back(route_of(parcel.op).front());
        }
        return sent(parcel.op);
      case Parcel::What::kArrived:
        if (gate_) gate_->message_arrived(parcel.op, now_);
        return arrived(parcel.op);
      case Parcel::What::kWorked:
        return worked(parcel.op);
      case Parcel::What::kFree:
        if (gate_ && parcel.hop == 0) gate_->packet_left(parcel.op, now_);
        return free_link(parcel.op);
      case Parcel::What::kStep:
        return gate_->timer(parcel.op, now_);
    }
  }

  /// A packet has its link until `end`. The next one of a sender is there in time for its turn.
  void hold(LinkId link, Picos end, bool from_sender) {
    held_[link] = true;
    if (from_sender && ports_.empty(link)) ports_.port(link).active = false;
    if (from_sender && !ports_.empty(link)) inject(link, end);
    queue_.push(end,
                {.op = link, .hop = from_sender ? std::uint16_t{0} : std::uint16_t{1}, .what = Parcel::What::kFree});
  }

  /// Packets wait their turn where messages wait in line.
  void meet_link(const Parcel& parcel) {
    const std::span<const LinkId> route = route_of(parcel.op);
    const LinkId link = route[parcel.hop];
    if (held_[link] == 0) return enter_link(parcel);
    waiting_.push(link, parcel.hop == 0 ? RoundRobin<Parcel>::kLocal : route[parcel.hop - 1U], parcel);
  }

  void free_link(LinkId link) {
    held_[link] = false;
    if (waiting_.empty(link)) return;
    const auto step_of = [&](const Parcel& parcel) { return plan_of(0).schedule().op(parcel.op).step; };
    enter_link(gate_ ? waiting_.pop_least(link, step_of) : waiting_.pop(link));
  }

  [[nodiscard]] Picos time_on(LinkId link, std::int64_t bytes) const {
    return options_.astra ? whole_ns(ns_at(bytes, rates_[link])) : transfer_time({bytes}, rates_[link]);
  }

  /// By ASTRA-sim's rules: latency and transfer are added before they are cut to whole nanoseconds.
  [[nodiscard]] Picos whole_message(LinkId link, std::int64_t bytes) const {
    return whole_ns(to_ns(latency_[link]) + ns_at(bytes, rates_[link]));
  }

  void enter_link(Parcel parcel) {
    const std::span<const LinkId> route = route_of(parcel.op);
    const LinkId link = route[parcel.hop];
    const bool last = (parcel.flags & kLastOfSegment) != 0;
    const bool delayed = parcel.hop == 0 && (parcel.flags & kFirstOfSegment) != 0;
    const Picos begin = std::max(now_, free_[link]);
    const Picos start = delayed ? begin + overhead_ : begin;
    const Picos end = std::max(start + time_on(link, parcel.bytes), parcel.tail);
    const Picos tail = options_.astra ? start + whole_message(link, parcel.bytes) : end + latency_[link];
    if (!on_clock(tail)) return;
    free_[link] = end;
    use_link({link, parcel.op, begin, end}, parcel.bytes, end - begin);
    if (parcel.hop == 0 && last) queue_.push(end, {.op = parcel.op, .what = Parcel::What::kSent});
    if (packets_) hold(link, end, parcel.hop == 0);
    if (parcel.hop + 1U < route.size()) {
      ++parcel.hop;
      parcel.tail = tail;
      queue_.push(options_.store_and_forward ? tail : start + latency_[link], parcel);
    } else if (last) {
      queue_.push(tail + endpoint_, {.op = parcel.op, .what = Parcel::What::kArrived});
    }
  }

  EventQueue<Parcel> queue_;
  std::vector<Picos> free_;  // per link
  bool packets_;
  Picos endpoint_;            // from the arrival of a message to its end; AstraRules only
  std::vector<Ready> ready_;  // per op, messages only
  WaitingSends waiting_sends_;
  std::vector<LinkId> undecided_;
  PortQueues ports_;        // packets only, like the rest
  std::vector<char> held_;  // per link
  RoundRobin<Parcel> waiting_;
  std::optional<StepGate> gate_;  // in lock step
};

/// Without the links of interfaces that the topology does not have.
void drop_interfaces(SimulationResult& result, std::size_t links) {
  result.link_bytes.resize(links);
  result.link_busy.resize(links);
  const auto busiest = std::max_element(result.link_busy.begin(), result.link_busy.end());
  result.busiest_link = static_cast<LinkId>(busiest - result.link_busy.begin());
  result.links_used =
      links - static_cast<std::size_t>(std::count(result.link_bytes.begin(), result.link_bytes.end(), 0));
  std::erase_if(result.timeline, [&](const LinkInterval& bar) { return bar.link >= links; });
}

}  // namespace

Result<JointResult> simulate_queues(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                    std::vector<FlatRoutes> routes) {
  if (options.interfaces.count == 0) return QueueSimulation(jobs, options, std::move(routes)).run();
  const Topology& topology = *jobs.front().topology;
  HOCKET_TRY_ASSIGN(const InterfaceNetwork network, InterfaceNetwork::make(topology, options.interfaces.count));
  HOCKET_TRY_ASSIGN(routes.front(), routes.front().behind(network));
  const SimulatedJob job{jobs.front().plan, &network.topology()};
  HOCKET_TRY_ASSIGN(JointResult result, QueueSimulation(std::span(&job, 1), options, std::move(routes)).run());
  drop_interfaces(result.sum, topology.links().size());
  return result;
}

}  // namespace hocket

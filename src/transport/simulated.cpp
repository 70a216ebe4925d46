#include "transport/simulated.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/simulated_endpoint.h"

namespace hocket {

SimulatedWorld::SimulatedWorld(std::uint32_t ranks, const SimulatedOptions& options)
    : options_(options), random_(options.seed), ranks_(ranks), links_(std::size_t{ranks} * ranks), endpoints_(ranks) {}

SimulatedWorld::~SimulatedWorld() = default;

Transport& SimulatedWorld::open(std::uint32_t rank, SimulatedProgram program) {
  endpoints_[rank] = std::make_unique<SimulatedEndpoint>(*this, rank, std::move(program));
  return *endpoints_[rank];
}

void SimulatedWorld::inject(const Fault& fault) { faults_.push_back(fault); }

std::int64_t SimulatedWorld::draw(Picos low, Picos high) {
  return low.count + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high.count - low.count + 1)));
}

void SimulatedWorld::schedule(Picos delay, Event event) {
  events_.emplace(std::pair((now_ + delay).count, order_++), std::move(event));
}

void SimulatedWorld::wake(std::uint32_t rank) {
  RankState& r = ranks_[rank];
  if (r.decided || r.dead || std::exchange(r.turn_due, true)) return;
  const Picos soon{draw({0}, options_.turn_max)};
  const Picos stalled = r.stalled_until > now_ ? r.stalled_until - now_ : Picos{0};
  schedule(soon + stalled, {.kind = EventKind::kTurn, .rank = rank});
}

void SimulatedWorld::transmit(std::uint32_t from, std::uint32_t to, const std::vector<std::byte>& wire) {
  ++counts_.frames;
  if (ranks_[from].dead) return;
  if (link(from, to).cut || random_.chance(options_.lose)) {
    ++counts_.lost;
    return;
  }
  if (random_.chance(options_.duplicate)) {
    ++counts_.duplicated;
    put_on_link(from, to, wire);
  }
  put_on_link(from, to, wire);
}

/// Frames of one connection stay in order; those of different connections overtake each other.
void SimulatedWorld::put_on_link(std::uint32_t from, std::uint32_t to, std::vector<std::byte> wire) {
  if (random_.chance(options_.corrupt)) {
    ++counts_.corrupted;
    // The planted bug lets damage through, but only where it can do harm: in the bytes, with the sum put right.
    const std::optional<Frame> frame = decode(wire);
    const bool hidden = options_.ignore_checks && frame && frame->header.length > 0;
    const std::size_t first = hidden ? kFrameHeaderBytes : 0;
    const std::size_t at = first + random_.below(wire.size() - first);
    wire[at] ^= std::byte{1} << static_cast<int>(random_.below(8));
    if (hidden) wire = encode(frame->header, std::span<const std::byte>(wire).subspan(kFrameHeaderBytes));
  }
  Link& l = link(from, to);
  const Picos arrival{
      std::max((now_ + Picos{draw(options_.delay_min, options_.delay_max)}).count, l.last_arrival.count + 1)};
  l.last_arrival = arrival;
  Picos& latest = ranks_[to].latest_arrival;
  if (arrival < latest) ++counts_.overtakings;
  latest = std::max(latest, arrival);
  schedule(arrival - now_, {.kind = EventKind::kFrame, .rank = to, .peer = from, .wire = std::move(wire)});
}

bool SimulatedWorld::undecided() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const RankState& r) { return !r.decided && !r.dead; });
}

void SimulatedWorld::run(SimulatedDriver& driver) {
  for (std::uint32_t i = 0; i < faults_.size(); ++i) {
    schedule(faults_[i].at, {.kind = EventKind::kFault, .rank = faults_[i].rank, .peer = i});
  }
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    HOCKET_ASSERT(endpoints_[rank] != nullptr, "rank without an endpoint");
    endpoints_[rank]->greet_peers();
    wake(rank);
    schedule(options_.heartbeat, {.kind = EventKind::kHeartbeat, .rank = rank});
    schedule(options_.deadline, {.kind = EventKind::kDeadline, .rank = rank});
  }
  while (undecided()) {
    HOCKET_ASSERT(!events_.empty(), "undecided ranks without an event to come");
    auto first = events_.extract(events_.begin());
    now_ = {first.key().first};
    Event& event = first.mapped();
    ++counts_.events;
    hasher_.add(static_cast<std::uint64_t>(now_.count));
    hasher_.add(static_cast<std::uint64_t>(event.kind) << 32 | std::uint64_t{event.rank} << 16 | event.peer);
    if (!event.wire.empty()) {
      hasher_.add(std::string_view(reinterpret_cast<const char*>(event.wire.data()), event.wire.size()));
    }
    handle(event, driver);
  }
}

void SimulatedWorld::handle(Event& event, SimulatedDriver& driver) {
  if (event.kind == EventKind::kFault) return strike(faults_[event.peer]);
  RankState& r = ranks_[event.rank];
  if (r.dead) return;
  SimulatedEndpoint& endpoint = *endpoints_[event.rank];
  switch (event.kind) {
    case EventKind::kFrame:
      return endpoint.receive(event.peer, event.wire);
    case EventKind::kRetry:
      return endpoint.retry(event.peer);
    case EventKind::kTurn:
      r.turn_due = false;
      return take_turn(event.rank, driver);
    case EventKind::kHeartbeat:
      if (r.decided) return;
      endpoint.beat();
      return schedule(options_.heartbeat, {.kind = EventKind::kHeartbeat, .rank = event.rank});
    case EventKind::kDeadline:
      if (r.decided) return;
      ++counts_.timeouts;
      endpoint.fail(
          {Code::kTimeout,
           fmt::format("rank {}: not done after {}, limit {}: {}", event.rank, format_seconds(to_seconds(now_)),
                       format_seconds(to_seconds(options_.deadline)), driver.waits_for(event.rank))});
      r.stalled_until = now_;
      return take_turn(event.rank, driver);
    case EventKind::kFault:
      return;
  }
}

void SimulatedWorld::take_turn(std::uint32_t rank, SimulatedDriver& driver) {
  if (ranks_[rank].decided) return;
  if (ranks_[rank].stalled_until > now_) return wake(rank);
  switch (driver.turn(rank)) {
    case SimulatedDriver::Turn::kIdle:
      return;
    case SimulatedDriver::Turn::kBusy:
      return wake(rank);
    case SimulatedDriver::Turn::kDone:
    case SimulatedDriver::Turn::kFailed:
      ranks_[rank].decided = true;
      return;
  }
}

void SimulatedWorld::fail(std::uint32_t rank, const Error& error) { endpoints_[rank]->fail(error); }

/// A fault that finds its rank decided, or a connection that nobody uses, changes nothing and is not counted.
void SimulatedWorld::strike(const Fault& fault) {
  RankState& r = ranks_[fault.rank];
  if (r.decided || r.dead) return;
  const bool pair = fault.kind == FaultKind::kReset || fault.kind == FaultKind::kCut;
  if (pair && (fault.peer == fault.rank || !endpoints_[fault.rank]->knows(fault.peer))) return;
  switch (fault.kind) {
    case FaultKind::kDeath:
      ++counts_.deaths;
      r.dead = true;
      return;
    case FaultKind::kStall:
      ++counts_.stalls;
      r.stalled_until = now_ + fault.duration;
      return;
    case FaultKind::kCut:
      ++counts_.cuts;
      link(fault.rank, fault.peer).cut = true;
      return;
    case FaultKind::kReset:
      ++counts_.resets;
      drop_frames_between(fault.rank, fault.peer);
      endpoints_[fault.rank]->connection_reset(fault.peer);
      if (!ranks_[fault.peer].dead) endpoints_[fault.peer]->connection_reset(fault.rank);
      return;
  }
}

void SimulatedWorld::drop_frames_between(std::uint32_t a, std::uint32_t b) {
  for (auto at = events_.begin(); at != events_.end();) {
    const Event& e = at->second;
    const bool between = (e.rank == a && e.peer == b) || (e.rank == b && e.peer == a);
    at = e.kind == EventKind::kFrame && between ? events_.erase(at) : std::next(at);
  }
}

}  // namespace hocket

// Chunks of collectives on a rank: when they begin, their ops through the frontier, ports that fetch what leaves,
// links, which messages between peers pass too.
#include <algorithm>

#include "simulator/graph_run.h"

namespace hocket {

GraphRun::ChunkRun& GraphRun::chunk_run(std::uint32_t r, Seq seq) {
  std::map<Seq, ChunkRun>& runs = ranks_[r].runs;
  const auto found = runs.find(seq);
  if (found != runs.end()) return found->second;
  const ChunkShape& shape = *flows_[seq].shape;
  const Schedule& schedule = shape.plan.schedule();
  const std::uint32_t division = setup_.plans.groups()[calls_[flows_[seq].call].group].division;
  const std::uint32_t member = setup_.plans.member(division, r);
  ChunkRun& run = runs.try_emplace(seq, shape, schedule.first_op(member), schedule.first_op(member + 1)).first->second;
  for (OpId id = run.frontier.begin(); id < run.frontier.end(); ++id)
    run.frontier.set_segments(id, shape.plan.segments(id));
  run.left = shape.phase_ops[member];
  run.algorithm = setup_.plans.algorithm(shape);
  return run;
}

/// The next chunk of the collective gets its number on all members. Those other than `r` may have settled already.
void GraphRun::number_chunk(std::uint32_t r, CallId id) {
  Call& call = calls_[id];
  const PlannedGroup& group = setup_.plans.groups()[call.group];
  const ChunkedCollective& cut = *group.calls[call.place];
  const auto seq = static_cast<Seq>(flows_.size());
  flows_.push_back({&cut.of(call.next), id, 0});
  ++call.next;
  for (const std::uint32_t member : group.members) {
    if (member >= ranks_.size()) break;
    ranks_[member].to_admit.push_back(seq);
    if (member != r) mark(member);
  }
}

/// The shape of the next chunk to be admitted; when none has a number, of the collective that was reached last. Null:
/// none left.
const ChunkShape* GraphRun::next_chunk(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (!rank.to_admit.empty()) return flows_[rank.to_admit.front()].shape;
  for (; !rank.calls.empty(); rank.calls.pop_back()) {
    const Call& call = calls_[rank.calls.back()];
    const ChunkedCollective& cut = *setup_.plans.groups()[call.group].calls[call.place];
    if (call.next < cut.chunks()) return &cut.of(call.next);
  }
  return nullptr;
}

/// Takes in a chunk; false when there is none, or no room: with an engine for one like the largest of its algorithm.
bool GraphRun::admit(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (!rank.engine && rank.in_flight >= in_flight_max_) return false;
  const ChunkShape* const shape = next_chunk(r);
  if (shape == nullptr) return false;
  if (rank.engine && !rank.engine->admits(setup_.plans.algorithm(*shape))) return false;
  if (rank.to_admit.empty()) number_chunk(r, rank.calls.back());
  const Seq seq = rank.to_admit.front();
  rank.to_admit.pop_front();
  ChunkRun& run = chunk_run(r, seq);
  run.admitted = true;
  ++rank.in_flight;
  if (rank.engine) {
    rank.engine->admit(seq, run.algorithm, run.shape->held[0]);
    rank.to_load.push_back(seq);
  } else {
    start_phase(r, seq);
  }
  return true;
}

/// Its phase begins: the ops of the phase may run.
void GraphRun::start_phase(std::uint32_t r, Seq seq) {
  ChunkRun& run = chunk_run(r, seq);
  run.running = true;
  if (run.touched.empty()) ranks_[r].hot.push_back(seq);
  for (OpId id = run.frontier.begin(); id < run.frontier.end(); ++id) {
    if (run.shape->costs.phase_of(id) == run.phase) run.touched.push_back(id);
  }
  if (run.left[run.phase] == 0) end_phase(r, seq);
}

/// On to the next phase: at once, or with an engine when there is room and a machine.
void GraphRun::end_phase(std::uint32_t r, Seq seq) {
  if (ranks_[r].engine) return leave_phase(r, seq);
  ChunkRun& run = ranks_[r].runs.at(seq);
  if (run.phase + 1 == run.left.size()) return end_chunk(r, seq);
  ++run.phase;
  start_phase(r, seq);
}

bool GraphRun::start_ops(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (rank.hot.empty()) return false;
  std::vector<Seq> hot = std::move(rank.hot);
  rank.hot.clear();
  std::sort(hot.begin(), hot.end());
  hot.erase(std::unique(hot.begin(), hot.end()), hot.end());
  std::vector<OpId> touched;
  for (const Seq seq : hot) {
    const auto run = rank.runs.find(seq);
    if (run == rank.runs.end()) continue;
    touched.swap(run->second.touched);
    run->second.touched.clear();
    const ChunkShape& shape = *flows_[seq].shape;
    const RankSymmetry* const symmetric = setup_.plans.symmetry(shape);
    const auto order = [&](OpId id) { return symmetric != nullptr ? symmetric->order(id) : id; };
    std::sort(touched.begin(), touched.end(), [&](OpId a, OpId b) { return order(a) < order(b); });
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const OpId id : touched) {
      if (rank.runs.contains(seq)) start_op(r, seq, id);
    }
  }
  return true;
}

void GraphRun::start_op(std::uint32_t r, Seq seq, OpId id) {
  Rank& rank = ranks_[r];
  ChunkRun& run = rank.runs.at(seq);
  const ChunkShape& shape = *run.shape;
  if (!run.running || shape.costs.phase_of(id) != run.phase) return;
  const std::uint32_t ready = run.frontier.startable(id);
  if (ready == 0) return;
  const std::uint32_t first = run.frontier.started(id);
  run.frontier.start(id, ready);
  const Op& op = shape.plan.schedule().op(id);
  for (std::uint32_t s = first; s < first + ready; ++s) {
    if (op.sends()) {
      rank.ports[port_of(r, seq, id)].waiting.push({seq, id, s, setup_.plans.order(shape, id)});
    } else if (op.receives() && reaction_.count > 0) {
      queue_.push(now_ + reaction_,
                  {.what = Event::What::kReacted, .rank = r, .seq = seq, .op = id, .bytes = std::int64_t{s}});
    } else {
      receive(r, {seq, id, s, 0});
    }
  }
}

std::int64_t GraphRun::parcel_bytes(const Parcel& parcel) const {
  const Flow& flow = flows_[parcel.seq];
  if (flow.shape == nullptr) {
    const Message& m = messages_[flow.message];
    const std::int64_t rest = m.bytes % m.segments;
    return m.bytes / m.segments + (parcel.segment < rest ? 1 : 0);
  }
  const Plan& plan = flow.shape->plan;
  const std::int64_t length = plan.bytes(parcel.op);
  const std::uint32_t segments = plan.segments(parcel.op);
  return plan.segment_begin(length, parcel.segment + 1, segments) -
         plan.segment_begin(length, parcel.segment, segments);
}

void GraphRun::begin_work(std::uint32_t r, const PendingWork& work, std::span<const PoolDemand> demands, Picos least) {
  Rank& rank = ranks_[r];
  std::uint32_t tag = 0;
  if (rank.free_work.empty()) {
    tag = static_cast<std::uint32_t>(rank.work.size());
    rank.work.push_back(work);
  } else {
    tag = rank.free_work.back();
    rank.free_work.pop_back();
    rank.work[tag] = work;
  }
  rank.pool.start(demands, least, tag, now_);
}

/// What the endpoint does with a segment that has arrived, or with a copy or sum of its own.
void GraphRun::receive(std::uint32_t r, const Parcel& parcel) {
  StepResult& result = ranks_[r].result.step;
  const ChunkShape& shape = *flows_[parcel.seq].shape;
  const Op& op = shape.plan.schedule().op(parcel.op);
  const OpCost cost = shape.costs.cost(parcel.op);
  const auto bytes = static_cast<double>(parcel_bytes(parcel));
  const bool kernels = engine_.kind == EngineKind::kComputeUnits;
  const bool moves = kernels || engine_.kind == EngineKind::kDma;
  const double charged = bytes * (cost.reads + (engine_.charge == MemoryCharge::kTraffic ? cost.writes : 0));
  result.memory_bytes_read += bytes * cost.reads;
  result.memory_bytes_written += bytes * cost.writes;
  double engine = 0;
  if (engine_.kind == EngineKind::kAce) engine = bytes * cost.adds;
  if (engine_.kind == EngineKind::kDma) engine = bytes * (cost.writes > 0 ? 1 : 0);
  const bool is_static = engine_.split == BudgetSplit::kStatic;
  const std::array demands{PoolDemand{kPoolMemory, is_static ? 0 : charged}, PoolDemand{kPoolBudget, charged},
                           PoolDemand{kPoolBusIn, moves && op.receives() ? bytes : 0},
                           PoolDemand{kPoolUnits, kernels ? bytes * cost.reads : 0}, PoolDemand{kPoolEngine, engine}};
  const bool nothing = std::all_of(demands.begin(), demands.end(), [](const PoolDemand& d) { return d.amount <= 0; });
  if (nothing) return end_segments(r, parcel, 1);
  begin_work(r, {PendingWork::What::kReceive, parcel}, demands);
}

bool GraphRun::pump_ports(std::uint32_t r) {
  bool moved = false;
  for (Port& port : ranks_[r].ports) {
    while (port.in_use < port_depth_ && !port.waiting.empty()) {
      const Parcel parcel = port.waiting.top();
      port.waiting.pop();
      ++port.in_use;
      moved = true;
      fetch(r, parcel);
    }
  }
  return moved;
}

/// Reads a segment from memory, as far as the engine does that segment by segment; then it leaves.
void GraphRun::fetch(std::uint32_t r, const Parcel& parcel) {
  StepResult& result = ranks_[r].result.step;
  const ChunkShape* const shape = flows_[parcel.seq].shape;
  const bool kernels = engine_.kind == EngineKind::kComputeUnits;
  const bool ideal = engine_.kind == EngineKind::kIdeal;
  const OpCost cost = shape != nullptr ? shape->costs.cost(parcel.op) : OpCost{static_cast<std::uint8_t>(!ideal), 0, 0};
  const auto bytes = static_cast<double>(parcel_bytes(parcel));
  result.memory_bytes_read += bytes * cost.reads;
  result.memory_bytes_written += bytes * cost.writes;
  const bool moves = kernels || engine_.kind == EngineKind::kDma || (shape == nullptr && !ideal);
  if (!moves || bytes <= 0) return fetched(r, parcel);
  const double charged = bytes * (cost.reads + (engine_.charge == MemoryCharge::kTraffic ? cost.writes : 0));
  const std::array demands{PoolDemand{kPoolMemory, engine_.split == BudgetSplit::kStatic ? 0 : charged},
                           PoolDemand{kPoolBudget, charged}, PoolDemand{kPoolBusOut, bytes},
                           PoolDemand{kPoolUnits, kernels ? bytes * cost.reads : 0},
                           PoolDemand{kPoolEngine, engine_.kind == EngineKind::kDma ? bytes : 0}};
  begin_work(r, {PendingWork::What::kFetch, parcel}, demands);
}

void GraphRun::fetched(std::uint32_t r, const Parcel& parcel) {
  const std::int64_t bytes = parcel_bytes(parcel);
  ranks_[r].result.step.sent_bytes += static_cast<double>(bytes);
  enter_link({.what = Event::What::kHead, .rank = r, .seq = parcel.seq, .op = parcel.op, .bytes = bytes, .tail = now_});
}

std::size_t GraphRun::hops(const Event& event) const {
  const Flow& flow = flows_[event.seq];
  return flow.shape != nullptr ? flow.shape->routes.of(event.op).size() : messages_[flow.message].route.size();
}

/// Where one rank stands for all, what it sends comes in over its own link in place of the receiver's.
LinkId GraphRun::link_of(const Event& event) const {
  const Flow& flow = flows_[event.seq];
  if (flow.shape == nullptr) return messages_[flow.message].route[event.hop];
  if (setup_.plans.folded() && event.hop > 0)
    return setup_.machine.topology.incoming(setup_.machine.topology.vertex_of(0)).front();
  const PlannedGroup& group = setup_.plans.groups()[calls_[flow.call].group];
  return group.network->links[flow.shape->routes.of(event.op)[event.hop]];
}

std::uint32_t GraphRun::port_of(std::uint32_t r, Seq seq, OpId op) const {
  return port_of_link_[link_of({.rank = r, .seq = seq, .op = op})];
}

/// The message model of docs/simulation.md.
void GraphRun::enter_link(Event event) {
  const LinkId link = link_of(event);
  const Picos begin = std::max(now_, free_[link]);
  const BytesPerSecond rate = setup_.machine.topology.link(link).bandwidth;
  if (!on_clock(event, begin, static_cast<double>(event.bytes) / rate.value)) return;
  const Picos end = std::max(begin + transfer_time({event.bytes}, rate), event.tail);
  const Picos tail = end + latency_[link];
  free_[link] = end;
  network_bytes_ += static_cast<double>(event.bytes);
  if (event.hop == 0) {
    Event left = event;
    left.what = Event::What::kLeft;
    queue_.push(end, left);
  }
  event.tail = tail;
  if (event.hop + 1U < hops(event)) {
    ++event.hop;
    queue_.push(begin + latency_[link], event);
    return;
  }
  arrive(event, tail);
}

void GraphRun::arrive(Event event, Picos time) {
  event.what = Event::What::kArrived;
  const Flow& flow = flows_[event.seq];
  if (flow.shape == nullptr) {
    event.rank = messages_[flow.message].receiver;
  } else {
    const Schedule& schedule = flow.shape->plan.schedule();
    const OpId receiver = schedule.match(event.op);
    const PlannedGroup& group = setup_.plans.groups()[calls_[flow.call].group];
    event.rank = setup_.plans.folded() ? 0 : group.members[schedule.op(event.op).peer];
    event.op = setup_.plans.folded() ? setup_.plans.symmetry(*flow.shape)->stands_for(receiver) : receiver;
  }
  queue_.push(time, event);
}

void GraphRun::end_segments(std::uint32_t r, const Parcel& parcel, std::uint32_t count) {
  Rank& rank = ranks_[r];
  ChunkRun& run = rank.runs.at(parcel.seq);
  run.frontier.finish(parcel.op, count, [&](OpId later) {
    if (run.touched.empty()) rank.hot.push_back(parcel.seq);
    run.touched.push_back(later);
  });
  if (!run.frontier.done(parcel.op)) return;
  if (--run.left[run.shape->costs.phase_of(parcel.op)] == 0) end_phase(r, parcel.seq);
}

void GraphRun::end_chunk(std::uint32_t r, Seq seq) {
  Rank& rank = ranks_[r];
  const Instance instance = instance_of(r, flows_[seq].call);
  rank.runs.erase(seq);
  --rank.in_flight;
  mark(r);
  if (--rank.chunks_left[instance] == 0) end_communication(r, instance);
}

}  // namespace hocket

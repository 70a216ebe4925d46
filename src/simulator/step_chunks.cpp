// Chunks of collectives on a rank: when they begin, their ops through the frontier, ports that fetch what leaves,
// links.
#include <algorithm>

#include "simulator/step_run.h"

namespace hocket {

StepRun::ChunkRun& StepRun::chunk_run(std::uint32_t r, Seq seq) {
  std::vector<std::unique_ptr<ChunkRun>>& runs = ranks_[r].runs;
  if (runs.size() <= seq) runs.resize(seq + 1);
  if (runs[seq] == nullptr) {
    const ChunkShape& shape = *chunks_[seq].shape;
    const Schedule& schedule = shape.plan.schedule();
    runs[seq] = std::make_unique<ChunkRun>(shape, schedule.first_op(r), schedule.first_op(r + 1));
    ChunkRun& run = *runs[seq];
    for (OpId id = schedule.first_op(r); id < schedule.first_op(r + 1); ++id)
      run.frontier.set_segments(id, shape.plan.segments(id));
    run.left = shape.phase_ops[r];
  }
  return *runs[seq];
}

/// The next chunk of the collective whose turn it is joins the order that all ranks follow; false when there is none.
bool StepRun::order_next_chunk() {
  while (!issued_.empty()) {
    Issued& next = engine_.order == CollectiveOrder::kLifo ? issued_.back() : issued_.front();
    const ChunkedCollective& cut = setup_.plans.of(node_id(next.instance));
    if (next.next < cut.chunks()) {
      chunks_.push_back({next.instance, &cut.of(next.next)});
      ++next.next;
      return true;
    }
    issued_.erase(engine_.order == CollectiveOrder::kLifo ? issued_.end() - 1 : issued_.begin());
  }
  return false;
}

bool StepRun::admit(std::uint32_t r) {
  Rank& rank = ranks_[r];
  bool moved = false;
  while (true) {
    if (!rank.engine && rank.in_flight >= in_flight_max_) return moved;
    // With an engine the next chunk is chosen when its first partition has room for one like the largest.
    if (rank.engine && !rank.engine->has_room(0, setup_.plans.longest()->held[0])) return moved;
    if (rank.next_admitted == chunks_.size() && !order_next_chunk()) return moved;
    const Seq seq = rank.next_admitted++;
    ChunkRun& run = chunk_run(r, seq);
    run.admitted = true;
    ++rank.in_flight;
    moved = true;
    if (rank.engine) {
      rank.engine->admit(seq, run.shape->held.size(), run.shape->held[0]);
      rank.to_load.push_back(seq);
    } else {
      start_phase(r, seq);
    }
  }
}

/// Its phase begins: the ops of the phase may run.
void StepRun::start_phase(std::uint32_t r, Seq seq) {
  ChunkRun& run = chunk_run(r, seq);
  run.running = true;
  if (run.touched.empty()) ranks_[r].hot.push_back(seq);
  for (OpId id = run.frontier.begin(); id < run.frontier.end(); ++id) {
    if (run.shape->costs.phase_of(id) == run.phase) run.touched.push_back(id);
  }
  if (run.left[run.phase] == 0) end_phase(r, seq);
}

/// On to the next phase: at once, or with an engine when there is room and a machine.
void StepRun::end_phase(std::uint32_t r, Seq seq) {
  if (ranks_[r].engine) return leave_phase(r, seq);
  ChunkRun& run = *ranks_[r].runs[seq];
  if (run.phase + 1 == run.left.size()) return end_chunk(r, seq);
  ++run.phase;
  start_phase(r, seq);
}

bool StepRun::start_ops(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (rank.hot.empty()) return false;
  std::vector<Seq> hot = std::move(rank.hot);
  rank.hot.clear();
  std::sort(hot.begin(), hot.end());
  hot.erase(std::unique(hot.begin(), hot.end()), hot.end());
  std::vector<OpId> touched;
  for (const Seq seq : hot) {
    if (rank.runs[seq] == nullptr) continue;
    touched.swap(rank.runs[seq]->touched);
    rank.runs[seq]->touched.clear();
    const ChunkShape& shape = *chunks_[seq].shape;
    std::sort(touched.begin(), touched.end(), [&](OpId a, OpId b) { return shape.order(a) < shape.order(b); });
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const OpId id : touched) {
      if (rank.runs[seq] != nullptr) start_op(r, seq, id);
    }
  }
  return true;
}

void StepRun::start_op(std::uint32_t r, Seq seq, OpId id) {
  Rank& rank = ranks_[r];
  ChunkRun& run = *rank.runs[seq];
  const ChunkShape& shape = *run.shape;
  if (!run.running || shape.costs.phase_of(id) != run.phase) return;
  const std::uint32_t ready = run.frontier.startable(id);
  if (ready == 0) return;
  const std::uint32_t first = run.frontier.started(id);
  run.frontier.start(id, ready);
  const Op& op = shape.plan.schedule().op(id);
  for (std::uint32_t s = first; s < first + ready; ++s) {
    if (op.sends()) {
      rank.ports[port_of(shape, id)].waiting.push({seq, id, s, shape.order(id)});
    } else if (op.receives() && reaction_.count > 0) {
      queue_.push(now_ + reaction_,
                  {.what = Event::What::kReacted, .rank = r, .seq = seq, .op = id, .bytes = std::int64_t{s}});
    } else {
      receive(r, {seq, id, s});
    }
  }
}

std::int64_t StepRun::segment_bytes(const ChunkShape& shape, OpId id, std::uint32_t segment) const {
  const std::int64_t length = shape.plan.bytes(id);
  const std::uint32_t segments = shape.plan.segments(id);
  return shape.plan.segment_begin(length, segment + 1, segments) - shape.plan.segment_begin(length, segment, segments);
}

void StepRun::begin_work(std::uint32_t r, const PendingWork& work, std::span<const PoolDemand> demands) {
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
  rank.pool.start(demands, {}, tag, now_);
}

/// What the endpoint does with a segment that has arrived, or with a copy or sum of its own.
void StepRun::receive(std::uint32_t r, const PortMessage& message) {
  Rank& rank = ranks_[r];
  const ChunkShape& shape = *chunks_[message.seq].shape;
  const Op& op = shape.plan.schedule().op(message.op);
  const OpCost cost = shape.costs.cost(message.op);
  const auto bytes = static_cast<double>(segment_bytes(shape, message.op, message.segment));
  const bool kernels = engine_.kind == EngineKind::kComputeUnits;
  const bool moves = kernels || engine_.kind == EngineKind::kDma;
  const double charged = bytes * (cost.reads + (engine_.charge == MemoryCharge::kTraffic ? cost.writes : 0));
  rank.result.memory_bytes_read += bytes * cost.reads;
  rank.result.memory_bytes_written += bytes * cost.writes;
  double engine = 0;
  if (engine_.kind == EngineKind::kAce) engine = bytes * cost.adds;
  if (engine_.kind == EngineKind::kDma) engine = bytes * (cost.writes > 0 ? 1 : 0);
  const bool is_static = engine_.split == BudgetSplit::kStatic;
  const std::array demands{PoolDemand{kPoolMemory, is_static ? 0 : charged}, PoolDemand{kPoolBudget, charged},
                           PoolDemand{kPoolBusIn, moves && op.receives() ? bytes : 0},
                           PoolDemand{kPoolUnits, kernels ? bytes * cost.reads : 0}, PoolDemand{kPoolEngine, engine}};
  const bool nothing = std::all_of(demands.begin(), demands.end(), [](const PoolDemand& d) { return d.amount <= 0; });
  if (nothing) return end_segments(r, message, 1);
  begin_work(r, {PendingWork::What::kReceive, message}, demands);
}

bool StepRun::pump_ports(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const bool moves = engine_.kind == EngineKind::kComputeUnits || engine_.kind == EngineKind::kDma;
  bool moved = false;
  for (Port& port : rank.ports) {
    while (port.in_use < port_depth_ && !port.waiting.empty()) {
      const PortMessage message = port.waiting.top();
      port.waiting.pop();
      ++port.in_use;
      moved = true;
      const ChunkShape& shape = *chunks_[message.seq].shape;
      const OpCost cost = shape.costs.cost(message.op);
      const auto bytes = static_cast<double>(segment_bytes(shape, message.op, message.segment));
      rank.result.memory_bytes_read += bytes * cost.reads;
      rank.result.memory_bytes_written += bytes * cost.writes;
      if (!moves || bytes <= 0) {
        fetched(r, message);
        continue;
      }
      const double charged = bytes * (cost.reads + (engine_.charge == MemoryCharge::kTraffic ? cost.writes : 0));
      const bool kernels = engine_.kind == EngineKind::kComputeUnits;
      const std::array demands{PoolDemand{kPoolMemory, engine_.split == BudgetSplit::kStatic ? 0 : charged},
                               PoolDemand{kPoolBudget, charged}, PoolDemand{kPoolBusOut, bytes},
                               PoolDemand{kPoolUnits, kernels ? bytes * cost.reads : 0},
                               PoolDemand{kPoolEngine, kernels ? 0 : bytes}};
      begin_work(r, {PendingWork::What::kFetch, message}, demands);
    }
  }
  return moved;
}

void StepRun::fetched(std::uint32_t r, const PortMessage& message) {
  const std::int64_t bytes = segment_bytes(*chunks_[message.seq].shape, message.op, message.segment);
  ranks_[r].result.sent_bytes += static_cast<double>(bytes);
  enter_link(
      {.what = Event::What::kHead, .rank = r, .seq = message.seq, .op = message.op, .bytes = bytes, .tail = now_});
}

/// The message model of docs/simulation.md.
void StepRun::enter_link(Event event) {
  const ChunkShape& shape = *chunks_[event.seq].shape;
  const auto route = shape.routes.of(event.op);
  const LinkId link = route[event.hop];
  const Picos begin = std::max(now_, free_[link]);
  const Picos end =
      std::max(begin + transfer_time({event.bytes}, setup_.machine.topology.link(link).bandwidth), event.tail);
  const Picos tail = end + latency_[link];
  free_[link] = end;
  network_bytes_ += static_cast<double>(event.bytes);
  if (event.hop == 0) {
    Event left = event;
    left.what = Event::What::kLeft;
    queue_.push(end, left);
  }
  event.tail = tail;
  if (event.hop + 1U < route.size()) {
    ++event.hop;
    queue_.push(begin + latency_[link], event);
    return;
  }
  const Schedule& schedule = shape.plan.schedule();
  const OpId receiver = schedule.match(event.op);
  event.what = Event::What::kArrived;
  event.rank = setup_.folded ? 0 : schedule.op(event.op).peer;
  event.op = setup_.folded ? shape.symmetry->stands_for(receiver) : receiver;
  queue_.push(tail, event);
}

void StepRun::end_segments(std::uint32_t r, const PortMessage& message, std::uint32_t count) {
  Rank& rank = ranks_[r];
  ChunkRun& run = *rank.runs[message.seq];
  run.frontier.finish(message.op, count, [&](OpId later) {
    if (run.touched.empty()) rank.hot.push_back(message.seq);
    run.touched.push_back(later);
  });
  if (run.frontier.done(message.op)) end_op(r, message.seq, message.op);
}

void StepRun::end_op(std::uint32_t r, Seq seq, OpId id) {
  ChunkRun& run = *ranks_[r].runs[seq];
  if (--run.left[run.shape->costs.phase_of(id)] == 0) end_phase(r, seq);
}

void StepRun::end_chunk(std::uint32_t r, Seq seq) {
  Rank& rank = ranks_[r];
  const Instance instance = chunks_[seq].instance;
  rank.runs[seq].reset();
  --rank.in_flight;
  rank.dirty = true;
  if (--rank.chunks_left[instance] == 0) end_collective(r, instance);
}

}  // namespace hocket

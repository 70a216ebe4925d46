#include "simulator/step_run.h"

#include <algorithm>

namespace hocket {
namespace {

Picos latency_time(Seconds latency) {
  Picos rounded = to_picos(latency);
  if (static_cast<double>(rounded.count) < latency.value * 1e12 * (1 - 1e-12)) ++rounded.count;
  return rounded;
}

constexpr std::size_t kNamedMax = 4;

}  // namespace

StepRun::StepRun(Setup setup)
    : setup_(std::move(setup)),
      engine_(setup_.machine.engine),
      instances_(static_cast<Instance>(setup_.workload.nodes.size()) * setup_.options.steps),
      later_(instances_),
      issued_by_(instances_, 0),
      free_(setup_.machine.topology.links().size()),
      port_of_link_(setup_.machine.topology.links().size(), 0) {
  const Topology& topology = setup_.machine.topology;
  for (const Link& link : topology.links()) latency_.push_back(latency_time(link.latency));
  if (engine_.reaction) reaction_ = latency_time({engine_.reaction->value});
  if (engine_.chunks_in_flight) in_flight_max_ = static_cast<std::uint32_t>(engine_.chunks_in_flight->value);
  if (engine_.port_buffer) {
    const double messages = engine_.port_buffer->value / static_cast<double>(message_bytes(engine_).count);
    port_depth_ = std::max(1U, static_cast<std::uint32_t>(messages));
  }
  const std::uint32_t count = setup_.folded ? 1 : topology.rank_count();
  const std::array<double, SharedPool::kResourcesMax> none{};
  for (std::uint32_t r = 0; r < count; ++r) {
    Rank& rank = ranks_.emplace_back(SharedPool(none));
    rank.waits.assign(instances_, 0);
    rank.chunks_left.assign(instances_, 0);
    const auto outgoing = topology.outgoing(topology.vertex_of(r));
    rank.ports.resize(outgoing.size());
    for (std::uint32_t p = 0; p < outgoing.size(); ++p) port_of_link_[outgoing[p]] = p;
    if (setup_.layout) {
      rank.engine.emplace(*setup_.layout);
      rank.machine_line.resize(setup_.layout->machines.size());
    }
  }
  const auto nodes = static_cast<Instance>(setup_.workload.nodes.size());
  for (Instance i = 0; i < instances_; ++i) {
    const auto wait_for = [&](Instance on) {
      later_[on].push_back(i);
      for (Rank& rank : ranks_) ++rank.waits[i];
    };
    for (const NodeId on : node(i).after) wait_for(i - node_id(i) + on);
    if (i < nodes) continue;
    for (const NodeId on : node(i).after_previous) wait_for(i - node_id(i) - nodes + on);
  }
}

Result<StepResult> StepRun::run() {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    set_capacities(r);
    for (Instance i = 0; i < instances_; ++i) {
      if (ranks_[r].waits[i] == 0) make_ready(r, i);
    }
  }
  while (true) {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) settle(r);
    // What all ranks have issued at this instant may touch ranks that have settled already.
    if (!newly_issued_.empty()) {
      std::sort(newly_issued_.begin(), newly_issued_.end());
      for (const Instance i : newly_issued_) issued_.push_back({i, 0});
      newly_issued_.clear();
      for (Rank& rank : ranks_) rank.dirty = true;
      continue;
    }
    if (queue_.empty()) return finish();
    now_ = queue_.front_time();
    while (!queue_.empty() && queue_.front_time() == now_) handle(queue_.pop().payload);
  }
}

void StepRun::handle(const Event& event) {
  if (event.what == Event::What::kHead) return enter_link(event);
  Rank& rank = ranks_[event.rank];
  rank.dirty = true;
  switch (event.what) {
    case Event::What::kLeft:
      --rank.ports[port_of(*chunks_[event.seq].shape, event.op)].in_use;
      return end_segments(event.rank, {event.seq, event.op, 0}, 1);
    case Event::What::kArrived: {
      ChunkRun& run = chunk_run(event.rank, event.seq);
      run.frontier.arrive(event.op);
      if (run.touched.empty()) rank.hot.push_back(event.seq);
      run.touched.push_back(event.op);
      return;
    }
    case Event::What::kReacted:
      return receive(event.rank, {event.seq, event.op, static_cast<std::uint32_t>(event.bytes)});
    case Event::What::kPool:
      if (rank.pool_event == now_) rank.pool_event = SharedPool::kNever;
      return;
    case Event::What::kHead:
      return;
  }
}

void StepRun::take_pool_ends(std::uint32_t r) {
  Rank& rank = ranks_[r];
  while (const auto tag = rank.pool.take_ended(now_)) {
    const PendingWork work = rank.work[*tag];
    rank.free_work.push_back(static_cast<std::uint32_t>(*tag));
    switch (work.what) {
      case PendingWork::What::kFetch:
        fetched(r, work.message);
        break;
      case PendingWork::What::kReceive:
        end_segments(r, work.message, 1);
        break;
      case PendingWork::What::kLoad:
        loaded(r, work.message.seq);
        break;
      case PendingWork::What::kStore:
        stored(r, work.message.seq);
        break;
      case PendingWork::What::kCompute:
        end_compute(r);
        break;
    }
  }
}

void StepRun::settle(std::uint32_t r) {
  if (!ranks_[r].dirty) return;
  while (settle_once(r)) {
  }
  ranks_[r].dirty = false;
  schedule_pool(r);
}

/// Everything that can happen on a rank at this instant; true when anything did.
bool StepRun::settle_once(std::uint32_t r) {
  take_pool_ends(r);
  bool moved = issue_collectives(r);
  moved = start_compute(r) || moved;
  moved = admit(r) || moved;
  moved = (setup_.layout && move_engine(r)) || moved;
  moved = start_ops(r) || moved;
  moved = pump_ports(r) || moved;
  return moved || ranks_[r].pool.next_end() <= now_;
}

void StepRun::schedule_pool(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Picos next = rank.pool.next_end();
  // A later event than needed is never waited for; an earlier one finds nothing and asks again.
  if (next == SharedPool::kNever || next >= rank.pool_event) return;
  rank.pool_event = next;
  queue_.push(next, {.what = Event::What::kPool, .rank = r});
}

Error StepRun::stands_still() const {
  std::string names;
  std::size_t waiting = 0;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    for (Instance i = 0; i < instances_; ++i) {
      const bool begun = node(i).collective && ranks_[r].waits[i] == 0 && ranks_[r].chunks_left[i] > 0;
      if (ranks_[r].waits[i] == 0 && !begun) continue;
      if (++waiting <= kNamedMax)
        names += fmt::format("{}rank {} '{}' of step {}", waiting > 1 ? ", " : "", r, node(i).name,
                             i / setup_.workload.nodes.size());
    }
  }
  return {Code::kDisproved, fmt::format("nothing can move at {}: {} nodes wait: {}{}", format_seconds(to_seconds(now_)),
                                        waiting, names, waiting > kNamedMax ? ", ..." : "")};
}

Result<StepResult> StepRun::finish() {
  std::size_t slowest = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    const auto waits = [](std::uint32_t left) { return left > 0; };
    if (std::any_of(rank.waits.begin(), rank.waits.end(), waits) || rank.running || rank.active > 0)
      return tl::unexpected<Error>(stands_still());
    if (rank.result.time > ranks_[slowest].result.time) slowest = r;
  }
  const auto index = static_cast<std::uint32_t>(slowest);
  book_gap(index, ranks_[slowest].result.time);
  StepResult result = std::move(ranks_[slowest].result);
  result.ranks = setup_.machine.topology.rank_count();
  result.simulated = static_cast<std::uint32_t>(ranks_.size());
  result.network_bytes = network_bytes_ * (setup_.folded ? result.ranks : 1);
  result.padded_bytes = setup_.plans.padded_bytes() * setup_.options.steps;
  result.chunks = chunks_.size();
  result.events = queue_.count();
  return result;
}

}  // namespace hocket

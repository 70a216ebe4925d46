#include "simulator/graph_run.h"

#include <algorithm>

#include "simulator/clock_end.h"

namespace hocket {
namespace {

constexpr std::size_t kNamedMax = 8;

/// Does not tell ranks apart, so that sums over ranks that do the same are multiples of one rank's.
std::uint64_t event_hash(Picos time, std::uint64_t what, std::uint64_t amount) {
  std::uint64_t z = static_cast<std::uint64_t>(time.count) * 0x9e3779b97f4a7c15ULL + (what << 48U) + amount;
  z = (z ^ (z >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  return z ^ (z >> 32U);
}

}  // namespace

GraphRun::GraphRun(Setup setup)
    : setup_(std::move(setup)),
      engine_(setup_.machine.engine),
      free_(setup_.machine.topology.links().size()),
      port_of_link_(setup_.machine.topology.links().size(), 0) {
  latency_.reserve(free_.size());
  for (const Link& link : setup_.machine.topology.links()) latency_.push_back(to_picos_at_least(link.latency));
  if (engine_.reaction) reaction_ = to_picos_at_least({engine_.reaction->value});
  if (engine_.chunks_in_flight) in_flight_max_ = static_cast<std::uint32_t>(engine_.chunks_in_flight->value);
  if (engine_.port_buffer) {
    const double messages = engine_.port_buffer->value / static_cast<double>(message_bytes(engine_).count);
    port_depth_ = std::max(1U, static_cast<std::uint32_t>(messages));
  }
  for (const TaskProgram& program : setup_.graph.programs) {
    auto& later = later_.emplace_back(program.tasks.size());
    auto& later_step = later_step_.emplace_back(program.tasks.size());
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      for (const NodeId on : program.tasks[id].after) later[on].push_back(id);
      for (const NodeId on : program.tasks[id].after_previous) later_step[on].push_back(id);
    }
  }
  const std::uint32_t count = setup_.plans.folded() ? 1 : setup_.graph.ranks();
  for (std::uint32_t r = 0; r < count; ++r) set_up_rank(r);
  set_up_calls();
}

void GraphRun::set_up_rank(std::uint32_t r) {
  const std::array<double, SharedPool::kResourcesMax> none{};
  const Topology& topology = setup_.machine.topology;
  Rank& rank = ranks_.emplace_back(SharedPool(none));
  const std::vector<Task>& tasks = setup_.graph.program(r).tasks;
  const Instance size = tasks_of(r);
  rank.left = size * setup_.options.steps;
  rank.waits.assign(rank.left, 0);
  rank.ended.assign(rank.left, false);
  rank.chunks_left.assign(rank.left, 0);
  for (Instance i = 0; i < rank.left; ++i) {
    const Task& t = tasks[i % size];
    rank.waits[i] = static_cast<std::uint32_t>(t.after.size() + (i < size ? 0 : t.after_previous.size()));
  }
  const auto outgoing = topology.outgoing(topology.vertex_of(r));
  rank.ports.resize(outgoing.size());
  for (std::uint32_t p = 0; p < outgoing.size(); ++p) port_of_link_[outgoing[p]] = p;
  if (setup_.cuts == nullptr) return;
  rank.engine.emplace(*setup_.cuts);
  rank.machine_line.resize(rank.engine->terminal());
}

void GraphRun::set_up_calls() {
  for (std::uint32_t g = 0; g < setup_.plans.groups().size(); ++g) {
    first_call_.push_back(static_cast<CallId>(calls_.size()));
    const auto count = static_cast<std::uint32_t>(setup_.plans.groups()[g].calls.size());
    for (std::uint32_t step = 0; step < setup_.options.steps; ++step) {
      for (std::uint32_t place = 0; place < count; ++place)
        calls_.push_back({.group = g, .place = place, .step = step});
    }
  }
}

Result<void> GraphRun::set_up_messages() {
  if (!setup_.graph.has_messages()) return {};
  const Topology& topology = setup_.machine.topology;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) message_of_.emplace_back(tasks_of(r), 0);
  Router router(topology);
  const std::vector<TaskMeeting> met = meetings(setup_.graph);
  const std::int64_t most = message_bytes(engine_).count;
  for (std::uint32_t step = 0; step < setup_.options.steps; ++step) {
    for (std::uint32_t k = 0; k < met.size(); ++k) {
      const TaskMeeting& m = met[k];
      message_of_[m.sender][m.send] = k;
      message_of_[m.receiver][m.receive] = k;
      Message& message = messages_.emplace_back();
      message.sender = m.sender;
      message.receiver = m.receiver;
      message.send = step * tasks_of(m.sender) + m.send;
      message.receive = step * tasks_of(m.receiver) + m.receive;
      message.bytes = setup_.graph.program(m.sender).tasks[m.send].message->bytes.count;
      const std::int64_t segments = std::max<std::int64_t>(1, (message.bytes + most - 1) / most);
      message.segments = static_cast<std::uint32_t>(std::min<std::int64_t>(segments, UINT32_MAX));
      HOCKET_TRY_ASSIGN(message.route, router.route(topology.vertex_of(m.sender), topology.vertex_of(m.receiver), 0));
    }
  }
  return {};
}

Result<GraphResult> GraphRun::run() {
  HOCKET_TRY(set_up_messages());
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    set_capacities(r);
    for (Instance i = 0; i < ranks_[r].waits.size(); ++i) {
      if (ranks_[r].waits[i] == 0) make_ready(r, i);
    }
  }
  while (true) {
    settle_all();
    if (queue_.empty()) look_for_late_work();
    if (late_) return tl::unexpected<Error>(*late_);
    if (queue_.empty()) return finish();
    if (queue_.front_time() > kClockEnd) {
      const double at = to_seconds(queue_.front_time()).value;
      end_late(fmt::format("{}: a message arrives at {:.4g} s", task_text(owner(queue_.pop().payload)), at));
      return tl::unexpected<Error>(*late_);
    }
    now_ = queue_.front_time();
    take_instant();
  }
}

/// Heads that reach a link at one instant enter it in the order of their events, or in an order that is the same seen
/// from each rank.
void GraphRun::take_instant() {
  const bool sorts = setup_.plans.meets_in_order();
  while (!queue_.empty() && queue_.front_time() == now_) {
    heads_.clear();
    while (!queue_.empty() && queue_.front_time() == now_) {
      const Event event = queue_.pop().payload;
      if (sorts && event.what == Event::What::kHead) {
        heads_.push_back(event);
      } else {
        handle(event);
      }
    }
    const auto place = [&](const Event& e) { return std::pair(e.seq, setup_.plans.order(*flows_[e.seq].shape, e.op)); };
    std::stable_sort(heads_.begin(), heads_.end(), [&](const Event& a, const Event& b) { return place(a) < place(b); });
    for (const Event& event : heads_) handle(event);
  }
}

void GraphRun::mark(std::uint32_t r) {
  if (ranks_[r].dirty) return;
  ranks_[r].dirty = true;
  dirty_.push_back(r);
}

/// Everything that can happen at this instant, ranks in their order. Then every rank takes in a chunk, one in turn, so
/// that ranks in alike places of their groups take theirs in one order; what all members have reached comes last.
void GraphRun::settle_all() {
  while (!dirty_.empty() || !newly_reached_.empty()) {
    std::vector<std::uint32_t> dirty = std::move(dirty_);
    dirty_.clear();
    std::sort(dirty.begin(), dirty.end());
    for (const std::uint32_t r : dirty) {
      while (settle_once(r)) {
      }
      ranks_[r].dirty = false;
      schedule_pool(r);
    }
    for (const std::uint32_t r : dirty) {
      if (admit(r)) mark(r);
    }
    if (!dirty_.empty() || newly_reached_.empty()) continue;
    std::vector<CallId> reached = std::move(newly_reached_);
    newly_reached_.clear();
    hand_out(std::move(reached));
  }
}

void GraphRun::handle(const Event& event) {
  event_sum_ += event_hash(now_, static_cast<std::uint64_t>(event.what), static_cast<std::uint64_t>(event.bytes));
  if (event.what == Event::What::kHead) return enter_link(event);
  Rank& rank = ranks_[event.rank];
  mark(event.rank);
  const bool message = event.what != Event::What::kPool && flows_[event.seq].shape == nullptr;
  switch (event.what) {
    case Event::What::kLeft:
      --rank.ports[port_of(event.rank, event.seq, event.op)].in_use;
      return message ? message_left(event.seq) : end_segments(event.rank, {event.seq, event.op, 0}, 1);
    case Event::What::kArrived: {
      if (message) return message_arrived(event.seq, event.bytes);
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

void GraphRun::take_pool_ends(std::uint32_t r) {
  Rank& rank = ranks_[r];
  while (const auto tag = rank.pool.take_ended(now_)) {
    const PendingWork work = rank.work[*tag];
    rank.free_work.push_back(static_cast<std::uint32_t>(*tag));
    switch (work.what) {
      case PendingWork::What::kFetch:
        fetched(r, work.parcel);
        break;
      case PendingWork::What::kReceive:
        end_segments(r, work.parcel, 1);
        break;
      case PendingWork::What::kLoad:
        loaded(r, work.parcel.seq);
        break;
      case PendingWork::What::kStore:
        stored(r, work.parcel.seq);
        break;
      case PendingWork::What::kCompute:
        end_compute(r);
        break;
      case PendingWork::What::kHost:
        end_host(r);
        break;
      case PendingWork::What::kLand:
        message_landed(work.parcel.seq);
        break;
    }
  }
}

/// Everything that can happen on a rank at this instant; true when anything did.
bool GraphRun::settle_once(std::uint32_t r) {
  take_pool_ends(r);
  bool moved = reach_tasks(r);
  moved = start_compute(r) || moved;
  moved = start_host(r) || moved;
  moved = (setup_.cuts != nullptr && move_engine(r)) || moved;
  moved = start_ops(r) || moved;
  moved = pump_ports(r) || moved;
  return moved || ranks_[r].pool.next_end() <= now_;
}

void GraphRun::schedule_pool(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Picos next = rank.pool.next_end();
  // A later event than needed is never waited for; an earlier one finds nothing and asks again.
  if (next == SharedPool::kNever || next >= rank.pool_event) return;
  rank.pool_event = next;
  queue_.push(next, {.what = Event::What::kPool, .rank = r});
}

/// What a task that was reached and has not ended waits for.
std::string GraphRun::waiting_text(std::uint32_t r, Instance i) const {
  const Task& t = task(r, i);
  const std::string text = task_text(r, i) + " ";
  if (t.collective) {
    const Call& call = calls_[call_id(r, i)];
    const PlannedGroup& group = setup_.plans.groups()[call.group];
    return text + fmt::format("in {} of group '{}', which {} of {} members have reached",
                              name_of(t.collective->what.kind), setup_.graph.divisions[group.division].name,
                              call.reached, setup_.plans.folded() ? 1 : group.members.size());
  }
  if (t.message)
    return text + fmt::format("{} rank {}, tag {}", t.message->sends ? "sends to" : "receives from", t.message->peer,
                              t.message->tag);
  return text + "computes";
}

Error GraphRun::stands_still() const {
  std::string names;
  std::size_t waiting = 0, behind = 0;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    for (Instance i = 0; i < ranks_[r].waits.size(); ++i) {
      if (ranks_[r].ended[i]) continue;
      if (ranks_[r].waits[i] > 0) {
        ++behind;
      } else if (++waiting <= kNamedMax) {
        names += fmt::format("{}{}", waiting > 1 ? "; " : "", waiting_text(r, i));
      }
    }
  }
  return {Code::kDisproved,
          fmt::format("nothing can move at {}: {} tasks wait, {} more behind them: {}{}",
                      format_seconds(to_seconds(now_)), waiting, behind, names, waiting > kNamedMax ? "; ..." : "")};
}

/// What rank 0's collectives move beyond their bytes so that pieces are equal.
double GraphRun::padded_bytes() const {
  double padded = 0;
  for (NodeId id = 0; id < tasks_of(0); ++id) {
    const Task& t = task(0, id);
    if (!t.collective) continue;
    const Call& call = calls_[call_id(0, id)];
    const ChunkedCollective& cut = *setup_.plans.groups()[call.group].calls[call.place];
    std::int64_t bytes = cut.rest != nullptr ? cut.rest->plan.what().bytes().count : 0;
    if (cut.shape != nullptr) bytes += cut.full * cut.shape->plan.what().bytes().count;
    if (bytes > 0) padded += static_cast<double>(bytes - t.collective->what.bytes.count);
  }
  return padded * setup_.options.steps;
}

/// What all ranks did together.
void GraphRun::add_up(StepResult& step) const {
  const double each = setup_.plans.folded() ? setup_.graph.ranks() : 1;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const StepResult& one = ranks_[r].result.step;
    step.all_memory_bytes += each * (one.compute_memory_bytes + one.memory_bytes_read + one.memory_bytes_written);
    for (const Task& t : setup_.graph.program(r).tasks) {
      const bool is_kernel = !t.collective && !t.message && !t.on_host;
      if (is_kernel) step.all_flops += each * setup_.options.steps * t.compute.flops;
      step.has_stated_compute = step.has_stated_compute || (is_kernel && t.compute.stated);
    }
  }
}

Result<GraphResult> GraphRun::finish() {
  std::size_t slowest = 0;
  std::vector<Picos> ended;
  ended.reserve(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].left > 0) return tl::unexpected<Error>(stands_still());
    ended.push_back(ranks_[r].result.step.time);
    if (ranks_[r].result.step.time > ranks_[slowest].result.step.time) slowest = r;
  }
  const auto index = static_cast<std::uint32_t>(slowest);
  book_gap(index, ranks_[slowest].result.step.time);
  GraphResult result = ranks_[slowest].result;
  result.messages = messages_.size();
  result.ended = std::move(ended);
  StepResult& step = result.step;
  add_up(step);
  step.frequency = setup_.frequency;
  step.ranks = setup_.graph.ranks();
  step.simulated = static_cast<std::uint32_t>(ranks_.size());
  step.network_bytes = network_bytes_ * (setup_.plans.folded() ? step.ranks : 1);
  step.padded_bytes = padded_bytes();
  step.chunks = flows_.size();
  step.events = queue_.count();
  step.event_sum = event_sum_;
  return result;
}

}  // namespace hocket

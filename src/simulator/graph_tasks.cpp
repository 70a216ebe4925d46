// Tasks of a rank: compute and work of the host, each one after another; collectives and messages that are reached;
// what compute and communication may take at the moment.
#include <algorithm>
#include <functional>
#include <limits>

#include "simulator/graph_run.h"

namespace hocket {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double value_or(const MaybeFigure& figure, double otherwise) { return figure ? figure->value : otherwise; }

/// Nothing to do and no time stated: it holds dependencies together and takes no turn.
bool is_empty(const Task& task) {
  return !task.compute.stated && task.compute.flops <= 0 && task.compute.memory_bytes <= 0;
}

}  // namespace

void GraphRun::set_capacities(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const EndpointModel& e = setup_.machine.platform.endpoint_of(r);
  const bool kernels = engine_.kind == EngineKind::kComputeUnits;
  const bool adds_on_units = engine_.kind == EngineKind::kDma;
  const bool is_static = engine_.split == BudgetSplit::kStatic;
  const double all = e.compute_units->value;
  const double wanted = kernels || adds_on_units ? value_or(engine_.units, kernels ? all : 0) : 0;
  const double held = is_static || rank.holds_units ? wanted : 0;
  const double memory = e.memory_bandwidth->value;
  const double budget = value_or(engine_.memory_bandwidth, memory);
  const auto set = [&](std::uint32_t resource, double capacity) { rank.pool.set_capacity(resource, capacity, now_); };
  set(kPoolMemory, memory);
  set(kPoolComputeMemory, is_static ? memory - budget : memory);
  set(kPoolCompute, (all - held) / all);
  set(kPoolBudget, budget);
  set(kPoolBusOut, value_or(e.bus_bandwidth, kUnlimited));
  set(kPoolBusIn, value_or(e.bus_bandwidth, kUnlimited));
  const double of_unit = value_or(e.unit_bandwidth, held > 0 ? kUnlimited : 0);
  set(kPoolUnits, !kernels ? kUnlimited : held * of_unit * setup_.frequency);
  double engine = kUnlimited;
  if (engine_.kind == EngineKind::kDma && engine_.dma_engines)
    engine = engine_.dma_engines->value * engine_.dma_bandwidth->value;
  if (engine_.kind == EngineKind::kAce && engine_.alus && engine_.alu_bandwidth)
    engine = engine_.alus->value * engine_.alu_bandwidth->value;
  set(kPoolEngine, engine);
}

std::array<PoolDemand, 2> GraphRun::compute_demands(std::uint32_t r, const WorkCompute& compute) const {
  const std::uint32_t memory = engine_.split == BudgetSplit::kStatic ? kPoolComputeMemory : kPoolMemory;
  if (compute.stated) return {PoolDemand{kPoolCompute, compute.stated->value}, PoolDemand{memory, 0}};
  const MaybeFigure& rate = setup_.machine.platform.endpoint_of(r).rates[static_cast<std::size_t>(compute.type)];
  const double seconds = compute.flops > 0 ? compute.flops / (rate->value * setup_.frequency) : 0;
  return {PoolDemand{kPoolCompute, seconds}, PoolDemand{memory, compute.memory_bytes}};
}

GraphRun::CallId GraphRun::call_id(std::uint32_t r, Instance i) const {
  const std::uint32_t group = setup_.plans.group(task(r, i).collective->division, r);
  const auto per_step = static_cast<std::uint32_t>(setup_.plans.groups()[group].calls.size());
  const std::uint32_t place = setup_.plans.call_of(setup_.graph.program_of[r], i % tasks_of(r));
  return first_call_[group] + i / tasks_of(r) * per_step + place;
}

GraphRun::Instance GraphRun::instance_of(std::uint32_t r, CallId id) const {
  const Call& call = calls_[id];
  const std::uint32_t division = setup_.plans.groups()[call.group].division;
  return call.step * tasks_of(r) + setup_.plans.calls(setup_.graph.program_of[r], division)[call.place];
}

void GraphRun::make_ready(std::uint32_t r, Instance i) {
  Rank& rank = ranks_[r];
  mark(r);
  const Task& t = task(r, i);
  if (t.collective || t.message || is_empty(t)) {
    rank.issuable.push_back(i);
    return;
  }
  std::vector<Instance>& ready = (t.on_host ? rank.host : rank.compute).ready;
  ready.push_back(i);
  std::push_heap(ready.begin(), ready.end(), std::greater<>());
}

bool GraphRun::start_compute(std::uint32_t r) {
  Rank& rank = ranks_[r];
  Stream& stream = rank.compute;
  if (stream.running || (!engine_.overlaps && rank.holding > 0)) return false;
  // Between kernels: communication that was launched meanwhile gets its units now.
  const bool granted = rank.active > 0 && !rank.holds_units;
  if (granted) {
    rank.holds_units = true;
    set_capacities(r);
  }
  if (stream.ready.empty()) return granted;
  std::pop_heap(stream.ready.begin(), stream.ready.end(), std::greater<>());
  const Instance instance = stream.ready.back();
  stream.ready.pop_back();
  book_gap(r, now_);
  stream.running = instance;
  stream.since = now_;
  const auto demands = compute_demands(r, task(r, instance).compute);
  const double alone =
      std::max(demands[0].amount, demands[1].amount / setup_.machine.platform.endpoint_of(r).memory_bandwidth->value);
  if (!on_clock(r, instance, alone)) return false;
  StepResult& result = rank.result.step;
  result.compute_alone = result.compute_alone + to_picos({alone});
  result.compute_memory_bytes += demands[1].amount;
  begin_work(r, {.what = PendingWork::What::kCompute, .parcel = {}}, demands);
  return true;
}

void GraphRun::add_bar(std::uint32_t r, std::string name, bool compute, Picos begin) {
  std::vector<StepInterval>& bars = ranks_[r].result.step.timeline;
  if (setup_.options.timeline && bars.size() < setup_.options.timeline_max)
    bars.push_back({std::move(name), compute, begin, now_});
}

void GraphRun::end_compute(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Instance instance = *rank.compute.running;
  rank.compute.running.reset();
  rank.stream_free = now_;
  rank.result.step.compute_busy = rank.result.step.compute_busy + (now_ - rank.compute.since);
  add_bar(r, task(r, instance).name, true, rank.compute.since);
  end_instance(r, instance);
}

/// The host takes the stated time and nothing of the endpoint.
bool GraphRun::start_host(std::uint32_t r) {
  Rank& rank = ranks_[r];
  Stream& stream = rank.host;
  if (stream.running || stream.ready.empty()) return false;
  std::pop_heap(stream.ready.begin(), stream.ready.end(), std::greater<>());
  stream.running = stream.ready.back();
  stream.ready.pop_back();
  stream.since = now_;
  const Seconds stated = *task(r, *stream.running).compute.stated;
  if (!on_clock(r, *stream.running, stated.value)) return false;
  begin_work(r, {.what = PendingWork::What::kHost, .parcel = {}}, {}, to_picos(stated));
  return true;
}

void GraphRun::end_host(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Instance instance = *rank.host.running;
  rank.host.running.reset();
  rank.result.host = rank.result.host + (now_ - rank.host.since);
  rank.last_done = "work of the host";
  end_instance(r, instance);
}

/// The time since compute last ran was spent waiting for what ended last.
void GraphRun::book_gap(std::uint32_t r, Picos until) {
  Rank& rank = ranks_[r];
  const Picos gap = until - rank.stream_free;
  if (gap.count <= 0) return;
  StepResult& result = rank.result.step;
  result.exposed = result.exposed + gap;
  Picos& sum = result.exposed_for[rank.last_done.empty() ? "nothing" : rank.last_done];
  sum = sum + gap;
  rank.stream_free = until;
}

std::string GraphRun::cause_of(std::uint32_t r, Instance i) const {
  const Task& t = task(r, i);
  if (t.message) return t.message->sends ? "messages sent" : "messages received";
  std::string call = fmt::format("{} of {}", name_of(t.collective->what.kind), name_of(t.phase));
  if (setup_.graph.divisions.size() == 1) return call;
  return fmt::format("{} in '{}'", call, setup_.graph.divisions[t.collective->division].name);
}

bool GraphRun::reach_tasks(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (rank.issuable.empty()) return false;
  if (!engine_.overlaps && (rank.compute.running || !rank.compute.ready.empty())) return false;
  std::sort(rank.issuable.begin(), rank.issuable.end());
  const std::vector<Instance> reached = std::move(rank.issuable);
  rank.issuable.clear();
  for (const Instance i : reached) {
    if (task(r, i).message) {
      reach_message(r, i);
    } else if (!task(r, i).collective) {
      end_instance(r, i);
    } else {
      reach_call(r, i);
    }
  }
  return true;
}

void GraphRun::reach_call(std::uint32_t r, Instance i) {
  const CallId id = call_id(r, i);
  Call& call = calls_[id];
  const PlannedGroup& group = setup_.plans.groups()[call.group];
  ranks_[r].chunks_left[i] = group.calls[call.place]->chunks();
  if (ranks_[r].chunks_left[i] > 0) begin_communication(r, true);
  if (++call.reached == (setup_.plans.folded() ? 1 : group.members.size())) newly_reached_.push_back(id);
}

/// All members have reached these. They are taken in the order of the tasks, not of the groups, so that ranks in alike
/// places of their groups see the same order. Without bytes the members only waited for one another.
void GraphRun::hand_out(std::vector<CallId> calls) {
  const auto members = [&](CallId id) { return setup_.plans.groups()[calls_[id].group].members; };
  const auto place = [&](CallId id) { return std::pair(instance_of(members(id).front(), id), id); };
  std::sort(calls.begin(), calls.end(), [&](CallId a, CallId b) { return place(a) < place(b); });
  for (const CallId id : calls) {
    const PlannedGroup& group = setup_.plans.groups()[calls_[id].group];
    const std::uint32_t chunks = group.calls[calls_[id].place]->chunks();
    for (const std::uint32_t member : group.members) {
      if (member >= ranks_.size()) break;
      mark(member);
      if (chunks == 0) {
        end_instance(member, instance_of(member, id));
      } else if (engine_.order == CollectiveOrder::kLifo) {
        ranks_[member].calls.push_back(id);
      }
    }
    if (engine_.order == CollectiveOrder::kLifo) continue;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) number_chunk(group.members.front(), id);
  }
}

void GraphRun::begin_communication(std::uint32_t r, bool holds) {
  Rank& rank = ranks_[r];
  if (rank.active++ == 0) rank.active_since = now_;
  if (holds) ++rank.holding;
  if (rank.holds_units || engine_.first != UnitPriority::kCommunication) return;
  rank.holds_units = true;
  set_capacities(r);
}

void GraphRun::end_communication(std::uint32_t r, Instance i) {
  Rank& rank = ranks_[r];
  rank.last_done = cause_of(r, i);
  const Task& t = task(r, i);
  if (!t.message || t.message->sends) --rank.holding;
  if (--rank.active == 0) {
    rank.result.step.communication = rank.result.step.communication + (now_ - rank.active_since);
    add_bar(r, "communication", false, rank.active_since);
    rank.holds_units = false;
    set_capacities(r);
  }
  end_instance(r, i);
}

void GraphRun::end_instance(std::uint32_t r, Instance i) {
  Rank& rank = ranks_[r];
  rank.result.step.time = std::max(rank.result.step.time, now_);
  rank.ended[i] = true;
  --rank.left;
  const std::uint32_t program = setup_.graph.program_of[r];
  const Instance size = tasks_of(r);
  const Instance step = i - i % size;
  for (const NodeId later : later_[program][i % size]) {
    if (--rank.waits[step + later] == 0) make_ready(r, step + later);
  }
  if (step + size == rank.waits.size()) return;
  for (const NodeId later : later_step_[program][i % size]) {
    if (--rank.waits[step + size + later] == 0) make_ready(r, step + size + later);
  }
}

}  // namespace hocket

// Compute of a rank, one node after another; issuing collectives; what compute and communication may take at the
// moment.
#include <algorithm>
#include <functional>
#include <limits>

#include "simulator/step_run.h"

namespace hocket {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double value_or(const MaybeFigure& figure, double otherwise) { return figure ? figure->value : otherwise; }

}  // namespace

void StepRun::set_capacities(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const EndpointModel& e = setup_.machine.platform.endpoint;
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
  set(kPoolUnits, !kernels ? kUnlimited : held * value_or(e.unit_bandwidth, held > 0 ? kUnlimited : 0));
  double engine = kUnlimited;
  if (engine_.kind == EngineKind::kDma && engine_.dma_engines)
    engine = engine_.dma_engines->value * engine_.dma_bandwidth->value;
  if (engine_.kind == EngineKind::kAce && engine_.alus && engine_.alu_bandwidth)
    engine = engine_.alus->value * engine_.alu_bandwidth->value;
  set(kPoolEngine, engine);
}

std::array<PoolDemand, 2> StepRun::compute_demands(const WorkCompute& compute) const {
  const std::uint32_t memory = engine_.split == BudgetSplit::kStatic ? kPoolComputeMemory : kPoolMemory;
  if (compute.stated) return {PoolDemand{kPoolCompute, compute.stated->value}, PoolDemand{memory, 0}};
  const MaybeFigure& rate = setup_.machine.platform.endpoint.rates[static_cast<std::size_t>(compute.type)];
  const double seconds = compute.flops > 0 ? compute.flops / rate->value : 0;
  return {PoolDemand{kPoolCompute, seconds}, PoolDemand{memory, compute.memory_bytes}};
}

void StepRun::make_ready(std::uint32_t r, Instance instance) {
  Rank& rank = ranks_[r];
  rank.dirty = true;
  if (node(instance).collective) {
    rank.issuable.push_back(instance);
    return;
  }
  rank.ready.push_back(instance);
  std::push_heap(rank.ready.begin(), rank.ready.end(), std::greater<>());
}

bool StepRun::start_compute(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (rank.running || (!engine_.overlaps && rank.active > 0)) return false;
  // Between kernels: communication that was launched meanwhile gets its units now.
  const bool granted = rank.active > 0 && !rank.holds_units;
  if (granted) {
    rank.holds_units = true;
    set_capacities(r);
  }
  if (rank.ready.empty()) return granted;
  std::pop_heap(rank.ready.begin(), rank.ready.end(), std::greater<>());
  const Instance instance = rank.ready.back();
  rank.ready.pop_back();
  book_gap(r, now_);
  rank.running = instance;
  rank.running_since = now_;
  const WorkCompute& compute = node(instance).compute;
  const auto demands = compute_demands(compute);
  const EndpointModel& e = setup_.machine.platform.endpoint;
  const double alone = std::max(demands[0].amount, demands[1].amount / e.memory_bandwidth->value);
  rank.result.compute_alone = rank.result.compute_alone + to_picos({alone});
  rank.result.compute_memory_bytes += demands[1].amount;
  begin_work(r, {.what = PendingWork::What::kCompute, .message = {}}, demands);
  return true;
}

void StepRun::end_compute(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Instance instance = *rank.running;
  rank.running.reset();
  rank.stream_free = now_;
  rank.result.compute_busy = rank.result.compute_busy + (now_ - rank.running_since);
  if (setup_.options.timeline && rank.result.timeline.size() < setup_.options.timeline_max)
    rank.result.timeline.push_back({node(instance).name, true, rank.running_since, now_});
  end_instance(r, instance);
}

/// The time since compute last ran was spent waiting for the collective that ended last.
void StepRun::book_gap(std::uint32_t r, Picos until) {
  Rank& rank = ranks_[r];
  const Picos gap = until - rank.stream_free;
  if (gap.count <= 0) return;
  rank.result.exposed = rank.result.exposed + gap;
  const std::string cause = rank.last_done ? fmt::format("{} of {}", name_of(node(*rank.last_done).collective->kind),
                                                         name_of(node(*rank.last_done).phase))
                                           : "nothing";
  Picos& sum = rank.result.exposed_for[cause];
  sum = sum + gap;
  rank.stream_free = until;
}

bool StepRun::issue_collectives(std::uint32_t r) {
  Rank& rank = ranks_[r];
  if (rank.issuable.empty()) return false;
  if (!engine_.overlaps && (rank.running || !rank.ready.empty())) return false;
  std::sort(rank.issuable.begin(), rank.issuable.end());
  const std::vector<Instance> issued = std::move(rank.issuable);
  rank.issuable.clear();
  for (const Instance i : issued) {
    const ChunkedCollective& cut = setup_.plans.of(node_id(i));
    if (cut.chunks() == 0) {
      end_instance(r, i);
      continue;
    }
    rank.chunks_left[i] = cut.chunks();
    if (rank.active++ == 0) rank.active_since = now_;
    if (!rank.holds_units && engine_.first == UnitPriority::kCommunication) {
      rank.holds_units = true;
      set_capacities(r);
    }
    if (++issued_by_[i] == ranks_.size()) newly_issued_.push_back(i);
  }
  return true;
}

void StepRun::end_collective(std::uint32_t r, Instance instance) {
  Rank& rank = ranks_[r];
  rank.last_done = instance;
  if (--rank.active == 0) {
    rank.result.communication = rank.result.communication + (now_ - rank.active_since);
    if (setup_.options.timeline && rank.result.timeline.size() < setup_.options.timeline_max)
      rank.result.timeline.push_back({"communication", false, rank.active_since, now_});
    rank.holds_units = false;
    set_capacities(r);
  }
  end_instance(r, instance);
}

void StepRun::end_instance(std::uint32_t r, Instance instance) {
  Rank& rank = ranks_[r];
  rank.result.time = std::max(rank.result.time, now_);
  for (const Instance later : later_[instance]) {
    if (--rank.waits[later] == 0) make_ready(r, later);
  }
}

}  // namespace hocket

#include "simulator/step_plans.h"

#include <algorithm>
#include <set>

#include "simulator/clock_end.h"

namespace hocket {
namespace {

constexpr Bytes kUsualChunk{std::int64_t{1} << 20};
constexpr Bytes kUsualMessage{std::int64_t{128} << 10};

/// Lone time and link rates of every phase, seen from rank 0.
Result<void> measure_phases(ChunkShape& shape, const Topology& topology) {
  const Schedule& schedule = shape.plan.schedule();
  const std::uint32_t phases = shape.costs.phases();
  shape.phase_rates.assign(phases, 0);
  shape.phase_lone.assign(phases, Picos{});
  std::vector<Picos> steps(schedule.steps());
  std::vector<std::set<LinkId>> links(phases);
  for (OpId id = schedule.first_op(0); id < schedule.first_op(1); ++id) {
    if (!schedule.op(id).sends()) continue;
    const Link& link = topology.link(shape.routes.of(id).front());
    if (links[shape.costs.phase_of(id)].insert(shape.routes.of(id).front()).second)
      shape.phase_rates[shape.costs.phase_of(id)] += link.bandwidth.value;
    Picos& step = steps[schedule.op(id).step];
    const BytesPerSecond slowest = shape.routes.slowest(id);
    const double held = static_cast<double>(shape.plan.bytes(id)) / slowest.value;
    if (held >= to_seconds(kStepMax).value)
      return fail(Code::kUnsupported, "a chunk's {} bytes at {} hold a link for {:.4g} s: at most {:.4g} s",
                  shape.plan.bytes(id), format_bandwidth(slowest), held, to_seconds(kStepMax).value);
    step = std::max(step, transfer_time({shape.plan.bytes(id)}, slowest) + to_picos(link.latency));
    const std::uint32_t phase = shape.costs.phase_of(id);
    shape.phase_lone[phase] = Picos{};
  }
  for (OpId id = schedule.first_op(0); id < schedule.first_op(1); ++id) {
    if (!schedule.op(id).sends()) continue;
    Picos& step = steps[schedule.op(id).step];
    Picos& phase = shape.phase_lone[shape.costs.phase_of(id)];
    phase = phase + step;
    step = {};  // counted once
    if (phase > kClockEnd) {
      return fail(Code::kUnsupported, "a chunk of {} bytes takes {:.4g} s: {}", shape.plan.what().bytes().count,
                  to_seconds(phase).value, clock_end_text());
    }
  }
  return {};
}

void count_phases(ChunkShape& shape) {
  const Schedule& schedule = shape.plan.schedule();
  const std::uint32_t phases = shape.costs.phases();
  shape.held.assign(phases, 0);
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    shape.phase_ops.emplace_back(phases, 0);
    for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id)
      ++shape.phase_ops.back()[shape.costs.phase_of(id)];
  }
  for (std::uint32_t phase = 0; phase < phases; ++phase)
    shape.held[phase] = touched_bytes(shape.plan, shape.costs, 0, phase);
}

}  // namespace

Bytes chunk_bytes(const CommunicationEngine& engine) {
  return engine.chunk ? Bytes{static_cast<std::int64_t>(engine.chunk->value)} : kUsualChunk;
}

Bytes message_bytes(const CommunicationEngine& engine) {
  const Bytes message = engine.message ? Bytes{static_cast<std::int64_t>(engine.message->value)} : kUsualMessage;
  return std::min(message, chunk_bytes(engine));
}

Result<StepPlans> StepPlans::make(const Workload& workload, const StepMachine& machine, const ScheduleChooser& choose) {
  StepPlans plans;
  plans.collectives_.reserve(workload.nodes.size());
  for (const WorkNode& node : workload.nodes) {
    if (node.collective && node.collective->bytes.count > 0 && machine.topology.rank_count() > 1) {
      HOCKET_TRY(plans.add(machine, choose, *node.collective));
    } else {
      plans.collectives_.emplace_back();
    }
  }
  return plans;
}

Result<void> StepPlans::add(const StepMachine& machine, const ScheduleChooser& choose,
                            const WorkCollective& collective) {
  const std::uint32_t ranks = machine.topology.rank_count();
  BoundCollective what{{collective.kind, ranks, 0}, 0, collective.type, ReduceOp::kSum};
  if (!schedules_.contains(collective.kind)) {
    HOCKET_TRY_ASSIGN(VerifiedSchedule schedule, choose(what.collective));
    if (schedule.schedule().rank_count() != ranks || schedule.schedule().collective().kind != collective.kind) {
      return fail(Code::kMismatch, "a schedule of {} for {} ranks where {} of {} is wanted",
                  name_of(schedule.schedule().collective().kind), schedule.schedule().rank_count(),
                  name_of(collective.kind), ranks);
    }
    schedules_.emplace(collective.kind, std::move(schedule));
  }
  const std::int64_t element = size_of(collective.type);
  const std::int64_t pieces = schedules_.at(collective.kind).schedule().division().pieces();
  const auto round_up = [&](std::int64_t bytes) {
    const std::int64_t unit = pieces * element;
    return (bytes + unit - 1) / unit * unit;
  };
  const std::int64_t chunk = round_up(chunk_bytes(machine.engine).count);
  ChunkedCollective cut{.full = static_cast<std::uint32_t>(collective.bytes.count / chunk)};
  what.count = chunk / element;
  if (cut.full > 0) {
    HOCKET_TRY_ASSIGN(cut.shape, shape(machine, what));
  }
  if (const std::int64_t left = collective.bytes.count % chunk; left > 0) {
    what.count = round_up(left) / element;
    HOCKET_TRY_ASSIGN(cut.rest, shape(machine, what));
  }
  collectives_.push_back(cut);
  return {};
}

Result<const ChunkShape*> StepPlans::shape(const StepMachine& machine, const BoundCollective& what) {
  for (const ChunkShape& known : shapes_) {
    const BoundCollective& w = known.plan.what();
    if (w.collective == what.collective && w.count == what.count && w.type == what.type) return &known;
  }
  const VerifiedSchedule& verified = schedules_.at(what.collective.kind);
  HOCKET_TRY_ASSIGN(Plan plan, Plan::bind(verified, what, message_bytes(machine.engine)));
  HOCKET_TRY_ASSIGN(FlatRoutes routes, FlatRoutes::resolve(plan.schedule(), machine.topology));
  EndpointCosts costs(plan.schedule(), machine.topology, machine.engine.kind);
  auto symmetry = RankSymmetry::find(plan.schedule(), machine.topology, routes, costs);
  const std::int64_t input = buffer_bytes(plan, 0, Buffer::kInput);
  const std::int64_t output = buffer_bytes(plan, 0, Buffer::kOutput);
  shapes_.push_back({.plan = std::move(plan),
                     .costs = std::move(costs),
                     .routes = std::move(routes),
                     .symmetry = std::move(symmetry),
                     .input = input,
                     .output = output});
  count_phases(shapes_.back());
  HOCKET_TRY(measure_phases(shapes_.back(), machine.topology));
  return &shapes_.back();
}

}  // namespace hocket

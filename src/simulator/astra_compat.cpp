#include "simulator/astra_compat.h"

#include <algorithm>
#include <deque>

#include "algorithms/algorithm.h"
#include "base/event_queue.h"

namespace hocket {
namespace {

constexpr std::uint32_t kChunksMax = 1U << 20;

Result<void> check_case(const AstraCase& work) {
  if (work.dimensions.empty()) return fail(Code::kInvalidArgument, "a network without dimensions");
  for (std::size_t d = 0; d < work.dimensions.size(); ++d) {
    if (work.dimensions[d].shape == ProductShape::kRing) continue;
    return fail(Code::kUnsupported, "dimension {} is of shape {}: ASTRA-sim's rules are known for rings", d,
                name_of(work.dimensions[d].shape));
  }
  const bool scatters = work.kind == CollectiveKind::kReduceScatter || work.kind == CollectiveKind::kAllGather;
  if (work.kind != CollectiveKind::kAllReduce && (!scatters || work.dimensions.size() > 1)) {
    return fail(Code::kUnsupported,
                "{} over {} dimension(s): ASTRA-sim's rules are known for all_reduce, and in one dimension for "
                "reduce_scatter and all_gather",
                name_of(work.kind), work.dimensions.size());
  }
  std::int64_t ranks = 1;
  for (const ProductDimension& d : work.dimensions) ranks *= d.extent;
  if (work.chunks == 0 || work.chunks > kChunksMax)
    return fail(Code::kInvalidArgument, "{} chunks: must be 1 to {}", work.chunks, kChunksMax);
  if (work.size.count <= 0 || work.size.count % (ranks * work.chunks) != 0) {
    return fail(Code::kUnsupported, "{} bytes do not divide into {} chunks of equal messages for {} ranks",
                work.size.count, work.chunks, ranks);
  }
  return {};
}

/// What every chunk does, in order; times are filled in later.
std::vector<AstraPhase> phases_of(const AstraCase& work) {
  using enum CollectiveKind;
  const std::int64_t chunk = work.size.count / work.chunks;
  const std::size_t last = work.dimensions.size() - 1;
  if (last == 0) return {{work.kind, 0, {chunk}, {}}};
  std::vector<AstraPhase> phases;
  phases.reserve(2 * last + 1);
  std::int64_t share = chunk;
  for (std::size_t d = 0; d < last; ++d) {
    phases.push_back({kReduceScatter, d, {share}, {}});
    share /= work.dimensions[d].extent;
  }
  phases.push_back({kAllReduce, last, {share}, {}});
  for (std::size_t d = last; d-- > 0;) {
    share *= work.dimensions[d].extent;
    phases.push_back({kAllGather, d, {share}, {}});
  }
  return phases;
}

/// One line of the dimension stands for all: they share nothing.
Result<SimulationResult> simulate_phase(const AstraCase& work, const AstraPhase& phase) {
  const ProductDimension& dimension = work.dimensions[phase.dimension];
  TopologyBuilder builder{"line", "product"};
  HOCKET_TRY(add_product(builder, std::span(&dimension, 1), "a line"));
  HOCKET_TRY_ASSIGN(const Topology line, std::move(builder).build());
  HOCKET_TRY_ASSIGN(const Algorithm* ring, find_algorithm("ring"));
  const Collective collective{phase.kind, dimension.extent, 0};
  HOCKET_TRY_ASSIGN(Schedule schedule, ring->plan({line, collective}));
  HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
  const BoundCollective what{collective, phase.size.count, DataType::kU8};
  HOCKET_TRY_ASSIGN(const Plan plan, Plan::bind(std::move(verified), what, phase.size));
  return simulate(plan, line, {.store_and_forward = true, .astra = work.rules});
}

/// Chunks in the dimensions' queues.
class ChunkQueues {
 public:
  ChunkQueues(const std::vector<AstraPhase>& phases, std::size_t dimensions)
      : phases_(phases), waiting_(dimensions), busy_(dimensions, false) {}

  /// The time at which the last of `chunks` has passed all phases.
  Picos run(std::uint32_t chunks) {
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) enter({chunk, 0}, {});
    Picos now;
    while (!queue_.empty()) {
      const auto event = queue_.pop();
      now = event.time;
      const std::size_t dimension = phases_[event.payload.phase].dimension;
      busy_[dimension] = false;
      if (event.payload.phase + 1 < phases_.size()) enter({event.payload.chunk, event.payload.phase + 1}, now);
      serve(dimension, now);
    }
    return now;
  }

  [[nodiscard]] std::uint64_t events() const { return queue_.count(); }

 private:
  struct Step {
    std::uint32_t chunk = 0;
    std::size_t phase = 0;
  };

  void enter(const Step& step, Picos now) {
    const std::size_t dimension = phases_[step.phase].dimension;
    waiting_[dimension].push_back(step);
    serve(dimension, now);
  }

  void serve(std::size_t dimension, Picos now) {
    if (busy_[dimension] || waiting_[dimension].empty()) return;
    busy_[dimension] = true;
    const Step step = waiting_[dimension].front();
    waiting_[dimension].pop_front();
    queue_.push(now + phases_[step.phase].time, step);
  }

  const std::vector<AstraPhase>& phases_;
  std::vector<std::deque<Step>> waiting_;  // per dimension
  std::vector<bool> busy_;
  EventQueue<Step> queue_;
};

}  // namespace

Result<AstraResult> simulate_astra(const AstraCase& work) {
  HOCKET_TRY(check_case(work));
  AstraResult result{.phases = phases_of(work)};
  Picos longest;
  for (AstraPhase& phase : result.phases) {
    HOCKET_TRY_ASSIGN(const SimulationResult simulated, simulate_phase(work, phase));
    phase.time = simulated.time + Picos{work.rules.endpoint_ns * 1000};
    result.events += simulated.events;
    longest = std::max(longest, phase.time);
  }
  const double bound = to_seconds(longest).value * work.chunks * static_cast<double>(result.phases.size());
  if (bound >= 0x1p62 * 1e-12)
    return fail(Code::kUnsupported, "{:.3g} s: beyond the simulated clock (it ends at {:.3g} s)", bound,
                0x1p62 * 1e-12);
  ChunkQueues queues(result.phases, work.dimensions.size());
  result.time = queues.run(work.chunks);
  result.events += queues.events();
  return result;
}

}  // namespace hocket

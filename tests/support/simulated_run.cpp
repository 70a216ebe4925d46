#include "support/simulated_run.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "support/small_schedules.h"
#include "topology/spec.h"

namespace hocket::test {
namespace {

/// One engine per rank over the world's endpoints.
class Bridge final : public SimulatedDriver {
 public:
  explicit Bridge(const SimulatedCase& c) : case_(c), world_(c.ranks(), c.options) {
    for (const Fault& fault : c.faults) world_.inject(fault);
    for (std::uint32_t r = 0; r < c.ranks(); ++r) ranks_.push_back(std::make_unique<Rank>(c, world_, r));
  }

  SimulatedOutcome run() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) ranks_[r]->start(case_.inputs[r]);
    world_.run(*this);
    SimulatedOutcome outcome;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      Rank& rank = *ranks_[r];
      outcome.errors.push_back(rank.engine.error());
      outcome.dead.push_back(world_.dead(r));
      const std::size_t ops = rank.program.ops().size();
      outcome.progress.push_back(ops == 0 ? 1
                                          : static_cast<double>(rank.engine.counters().ops) / static_cast<double>(ops));
      rank.output.resize(
          static_cast<std::size_t>(output_count(case_.plan->what(), r) * size_of(case_.plan->what().type)));
      outcome.outputs.push_back(std::move(rank.output));
    }
    outcome.hash = world_.event_hash();
    outcome.counts = world_.counts();
    return outcome;
  }

  Turn turn(std::uint32_t r) override {
    Rank& rank = *ranks_[r];
    bool moved = rank.transport->poll(rank.engine);
    for (int i = 0; i < 3; ++i) moved = rank.engine.step() || moved;
    if (rank.engine.error()) {
      world_.fail(r, *rank.engine.error());
      return Turn::kFailed;
    }
    if (rank.engine.done()) return Turn::kDone;
    return moved ? Turn::kBusy : Turn::kIdle;
  }

  std::string waits_for(std::uint32_t r) override { return ranks_[r]->engine.waits_for(); }

 private:
  struct Rank {
    Rank(const SimulatedCase& c, SimulatedWorld& world, std::uint32_t r)
        : program(c.plan_of(r), r),
          inner(&world.open(r, describe(program))),
          wrapped(c.wrap ? c.wrap(r, *inner) : nullptr),
          transport(wrapped ? wrapped.get() : inner),
          engine(program, *transport) {}

    static SimulatedProgram describe(const Program& program) {
      SimulatedProgram p{program.plan().fingerprint(), program.first_op(), {}};
      for (const ProgramOp& op : program.ops()) p.ends.push_back(op.end);
      return p;
    }

    void start(const RankBytes& input) {
      const Plan& plan = program.plan();
      output.assign(static_cast<std::size_t>(plan.output_bytes().count), std::byte{0xee});
      scratch.assign(static_cast<std::size_t>(plan.scratch_bytes().count), std::byte{0xdd});
      stage.assign(static_cast<std::size_t>(program.stage_bytes()), std::byte{0xcc});
      engine.start({input.data(), output.data(), scratch.data(), stage.data()});
    }

    Program program;
    Transport* inner;
    std::unique_ptr<Transport> wrapped;
    Transport* transport;
    Engine engine;
    RankBytes output;
    RankBytes scratch;
    RankBytes stage;
  };

  const SimulatedCase& case_;
  SimulatedWorld world_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

constexpr std::array kSpecs{"ring:3",       "ring:5",       "line:4",   "torus:2x2", "torus:2x4", "mesh:2x3",
                            "full:4",       "full:7",       "switch:6", "boxes:2x3", "dgx1",      "hypercube:3",
                            "random:6,3,1", "random:8,3,2", "line:2",   "full:2"};

/// A schedule of a real algorithm on a small topology, or nothing when the pair does not fit.
std::optional<Schedule> planned_schedule(Random& random) {
  const auto topology = topology_from_spec(kSpecs[random.below(kSpecs.size())], {});
  if (!topology || algorithms().empty()) return std::nullopt;
  Collective collective{static_cast<CollectiveKind>(random.below(kCollectiveKinds)), topology->rank_count(), 0};
  if (is_rooted(collective.kind)) collective.root = static_cast<std::uint32_t>(random.below(collective.ranks));
  const Algorithm& algorithm = *algorithms()[random.below(algorithms().size())];
  const PlanRequest request{*topology, collective};
  if (!algorithm.supports(request).empty()) return std::nullopt;
  auto schedule = algorithm.plan(request);
  return schedule ? std::optional<Schedule>(std::move(*schedule)) : std::nullopt;
}

Schedule draw_schedule(Random& random) {
  for (int attempt = 0; attempt < 20 && random.chance(0.7); ++attempt) {
    if (auto schedule = planned_schedule(random)) return std::move(*schedule);
  }
  return random_schedule(random).value();
}

BoundCollective draw_amount(const VerifiedSchedule& verified, Random& random) {
  const Schedule& schedule = verified.schedule();
  BoundCollective what{schedule.collective(), 0, static_cast<DataType>(random.below(kDataTypes)),
                       static_cast<ReduceOp>(random.below(kReduceOps))};
  if (what.op == ReduceOp::kAvg && !verified.can_average()) what.op = ReduceOp::kSum;
  const std::int64_t unit = schedule.division().uniform ? schedule.division().pieces() : what.collective.ranks;
  what.count = unit * static_cast<std::int64_t>(random.below(24));
  if (!schedule.division().uniform && !is_blocked(what.collective.kind) && what.count > 0) {
    what.count -= static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(unit)));
  }
  return what;
}

std::shared_ptr<const Plan> bind(const VerifiedSchedule& verified, const BoundCollective& what, std::int64_t segment) {
  return std::make_shared<const Plan>(Plan::bind(verified, what, {segment}).value());
}

/// Most runs are short: half of the faults come early.
Picos moment(Random& random) {
  return {static_cast<std::int64_t>(random.below(random.chance(0.5) ? 20'000'000 : 150'000'000))};
}

Fault draw_fault(FaultKind kind, std::uint32_t ranks, Random& random) {
  Fault fault{kind, moment(random), static_cast<std::uint32_t>(random.below(ranks)), 0, {}};
  fault.peer = static_cast<std::uint32_t>((fault.rank + 1 + random.below(ranks - 1)) % ranks);
  fault.duration = {static_cast<std::int64_t>(random.below(20'000'000'000))};
  return fault;
}

void add_noise(SimulatedOptions& options, Random& random) {
  options.lose = random.unit() * 0.15;
  options.duplicate = random.unit() * 0.15;
  options.corrupt = random.unit() * 0.1;
}

void add_faults(Scenario scenario, SimulatedCase& c, Random& random) {
  const auto add = [&](FaultKind kind) { c.faults.push_back(draw_fault(kind, c.ranks(), random)); };
  switch (scenario) {
    case Scenario::kClean:
    case Scenario::kMismatch:
      return;
    case Scenario::kNoise:
      return add_noise(c.options, random);
    case Scenario::kStall:
      add(FaultKind::kStall);
      return add(FaultKind::kStall);
    case Scenario::kDeath:
      return add(FaultKind::kDeath);
    case Scenario::kReset:
      return add(FaultKind::kReset);
    case Scenario::kCut:
      return add(FaultKind::kCut);
    case Scenario::kMixed:
      add_noise(c.options, random);
      for (int i = 0; i < 3; ++i) add(static_cast<FaultKind>(random.below(4)));
      return;
  }
}

bool contains(const Error& error, const std::string& words) { return error.text.find(words) != std::string::npos; }

/// One of the two ends says so of the other.
bool blames(const Error& error, const Fault& f, std::string_view words, std::string_view after) {
  return contains(error, fmt::format("rank {}: {}rank {} {}", f.rank, words, f.peer, after)) ||
         contains(error, fmt::format("rank {}: {}rank {} {}", f.peer, words, f.rank, after));
}

bool names_fault(const Error& error, const Fault& f) {
  switch (f.kind) {
    case FaultKind::kDeath:
      return contains(error, fmt::format(": rank {} does not answer", f.rank));
    case FaultKind::kCut:
      return blames(error, f, "", "does not answer");
    case FaultKind::kReset:
      return blames(error, f, "the connection with ", "was reset");
    case FaultKind::kStall:
      return false;
  }
  return false;
}

bool names_cause(Scenario scenario, const SimulatedCase& c, const Error& error) {
  if (scenario == Scenario::kMismatch) {
    return contains(error, c.plan->fingerprint().text()) && contains(error, c.foreign->fingerprint().text()) &&
           contains(error, fmt::format("rank {}", c.stranger));
  }
  return std::any_of(c.faults.begin(), c.faults.end(), [&](const Fault& f) { return names_fault(error, f); });
}

}  // namespace

std::string_view name_of(Scenario scenario) {
  constexpr std::array<std::string_view, kScenarios> kNames{"Clean", "Noise", "Stall",    "Death",
                                                            "Reset", "Cut",   "Mismatch", "Mixed"};
  return kNames[static_cast<std::size_t>(scenario)];
}

std::size_t SimulatedOutcome::successes() const {
  std::size_t count = 0;
  for (std::size_t r = 0; r < errors.size(); ++r) count += !errors[r] && !dead[r] ? 1 : 0;
  return count;
}

SimulatedCase draw_case(Scenario scenario, std::uint64_t seed) {
  Random random(seed * kScenarios + static_cast<std::uint64_t>(scenario));
  SimulatedCase c;
  c.seed = seed;
  const VerifiedSchedule verified = prove(draw_schedule(random)).value();
  const BoundCollective what = draw_amount(verified, random);
  const auto segment = static_cast<std::int64_t>(size_of(what.type) << random.below(5));
  c.plan = bind(verified, what, segment);
  if (scenario == Scenario::kMismatch) {
    BoundCollective other = what;
    other.op = what.op == ReduceOp::kMax ? ReduceOp::kSum : ReduceOp::kMax;
    c.foreign = bind(verified, other, segment);
    c.stranger = static_cast<std::uint32_t>(random.below(c.ranks()));
  }
  c.inputs = random.chance(0.5) ? rough_inputs(what, random) : small_integer_inputs(what, random);
  c.options.seed = random.next();
  c.options.eager = verified.safe_depth() == 0 && random.chance(0.5);
  c.options.delay_max = {1'000'000 + static_cast<std::int64_t>(random.below(60'000'000))};
  add_faults(scenario, c, random);
  return c;
}

SimulatedOutcome simulate(const SimulatedCase& c) { return Bridge(c).run(); }

std::string judge(Scenario scenario, const SimulatedCase& c, const SimulatedOutcome& outcome) {
  const auto want = interpret(*c.plan, c.inputs);
  if (!want) return want.error().text;
  const bool harmless = scenario == Scenario::kClean || scenario == Scenario::kNoise || scenario == Scenario::kStall;
  for (std::uint32_t r = 0; r < c.ranks(); ++r) {
    if (outcome.dead[r] || (c.foreign && r == c.stranger && !outcome.errors[r])) continue;
    const std::optional<Error>& error = outcome.errors[r];
    if (!error && outcome.outputs[r] != (*want)[r]) return fmt::format("rank {} returned wrong data", r);
    if (!error) continue;
    if (harmless) return fmt::format("rank {} failed without a reason: {}", r, error->text);
    if (!names_cause(scenario, c, *error)) return fmt::format("rank {} does not name the cause: {}", r, error->text);
  }
  return "";
}

}  // namespace hocket::test

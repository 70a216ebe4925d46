// Cases of a StreamWorld drawn from a seed, and what must hold of their outcomes.
#include <algorithm>

#include "algorithms/algorithm.h"
#include "base/random.h"
#include "planner/planner.h"
#include "support/small_schedules.h"
#include "support/stream_world.h"
#include "topology/spec.h"
#include "transport/board.h"
#include "verify/one_shot.h"

namespace hocket::test {
namespace {

constexpr std::uint64_t kLongEach = 16;    // one case of so many is long
constexpr std::uint64_t kOneShotEach = 6;  // one of so many is of a one-shot plan
constexpr std::int64_t kLongBytes = std::int64_t{512} << 10;

/// Can no op of `rank` be the last before some op of `other` has run? Followed through dependencies and messages.
bool depends_on(const Schedule& schedule, std::uint32_t rank, std::uint32_t other) {
  std::vector<bool> reached(schedule.ops().size(), false);
  std::vector<OpId> open;
  const auto reach = [&](OpId id) {
    if (!reached[id]) open.push_back(id);
    reached[id] = true;
  };
  for (OpId id = schedule.first_op(rank); id < schedule.first_op(rank + 1); ++id) reach(id);
  while (!open.empty()) {
    const OpId id = open.back();
    open.pop_back();
    if (schedule.rank_of(id) == other) return true;
    for (const Dependency& d : schedule.dependencies(id)) reach(d.on());
    if (schedule.op(id).receives()) reach(schedule.match(id));
  }
  return false;
}

/// The dead rank is called lost, and no other but those that have vanished.
std::string judge_blame(const StreamOutcome& o, std::uint32_t r, const std::string& text) {
  bool named = false;
  const std::string_view words = "lost rank ";
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    const auto lost = static_cast<std::uint32_t>(std::stoul(text.substr(at + words.size())));
    if (lost != o.dead && !o.vanished.contains(lost)) return fmt::format("rank {} blames rank {}: {}", r, lost, text);
    named = named || lost == o.dead;
  }
  return named ? "" : fmt::format("rank {} does not name the dead rank {}: {}", r, o.dead.value_or(99), text);
}

std::string judge_rank(StreamScenario scenario, const SimulatedCase& c, const StreamOutcome& o, std::uint32_t r,
                       const RankBytes& want) {
  const bool other = scenario == StreamScenario::kOtherPlan && c.foreign;
  const bool odd = (scenario == StreamScenario::kMismatch || other) && r == c.stranger;
  for (const RankBytes& got : o.outputs[r]) {
    if (got != want && !odd) return fmt::format("rank {} returned wrong data", r);
  }
  const std::optional<Error>& error = o.errors[r];
  const bool clean = scenario == StreamScenario::kClean || (scenario == StreamScenario::kOtherPlan && !other);
  if (clean && error) return fmt::format("rank {} failed: {}", r, error->text);
  const bool skip = scenario == StreamScenario::kSkip;
  const bool mismatch = scenario == StreamScenario::kMismatch;
  if (!error && (mismatch || skip || other) && r != c.stranger && depends_on(c.plan->schedule(), r, c.stranger))
    return fmt::format("rank {} depends on rank {} and returned success", r, c.stranger);
  if (!error) return "";
  if (scenario == StreamScenario::kDeath) return judge_blame(o, r, error->text);
  if (error->text.find(fmt::format("rank {}", c.stranger)) == std::string::npos)
    return fmt::format("rank {} does not name rank {}: {}", r, c.stranger, error->text);
  if (mismatch && (error->text.find("max") == std::string::npos || error->text.find("here") == std::string::npos))
    return fmt::format("rank {} does not name both values: {}", r, error->text);
  if (other && error->text.find("plan") == std::string::npos)
    return fmt::format("rank {} does not say that the plans differ: {}", r, error->text);
  return "";
}

/// The same amount by another algorithm on a network of its own; null when there is none with another hash.
std::shared_ptr<const Plan> other_plan(const Plan& plan, std::uint64_t seed) {
  const BoundCollective& what = plan.what();
  const auto topology = topology_from_spec(fmt::format("full:{}", what.collective.ranks), {});
  if (!topology) return nullptr;
  const auto all = algorithms();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Algorithm& algorithm = *all[(seed + i) % all.size()];
    const PlanRequest request{*topology, what.collective};
    if (!algorithm.supports(request).empty()) continue;
    const auto verified = plan_algorithm(algorithm, request);
    if (!verified) continue;
    auto bound = Plan::bind(*verified, what, plan.segment());
    if (bound && bound->fingerprint() != plan.fingerprint()) return std::make_shared<const Plan>(std::move(*bound));
  }
  return nullptr;
}

/// So much that segments which arrive early lie in slots, which are used again, and in what comes after the slots.
void lengthen(SimulatedCase& c) {
  BoundCollective what = c.plan->what();
  const std::int64_t bytes = what.count * static_cast<std::int64_t>(size_of(what.type));
  if (bytes == 0) return;
  what.count *= 1 + kLongBytes / bytes;
  const std::int64_t segment = std::int64_t{2048} << (c.seed / kLongEach % 5);
  c.plan = std::make_shared<const Plan>(Plan::bind(c.plan->verified(), what, {segment}).value());
  Random random(c.seed);
  c.inputs = rough_inputs(what, random);
}

/// The same amount by a one-shot all-reduce.
void make_one_shot(SimulatedCase& c, bool mismatch) {
  BoundCollective what = c.plan->what();
  what.collective = {CollectiveKind::kAllReduce, what.collective.ranks, 0};
  const auto topology = topology_from_spec(fmt::format("full:{}", what.collective.ranks), {});
  if (what.collective.ranks == 1 || !topology) return;
  const auto verified = plan_algorithm(*find_algorithm("one_shot").value(), {*topology, what.collective}).value();
  const Bytes segment{Board::kBytesMax};
  c.plan = std::make_shared<const Plan>(Plan::bind(verified, what, segment).value());
  what.op = what.op == ReduceOp::kMax ? ReduceOp::kSum : ReduceOp::kMax;
  if (mismatch) c.foreign = std::make_shared<const Plan>(Plan::bind(verified, what, segment).value());
  Random random(c.seed);
  c.inputs = rough_inputs(c.plan->what(), random);
}

}  // namespace

std::string_view name_of(StreamScenario scenario) {
  constexpr std::array<std::string_view, kStreamScenarios> kNames{"Clean", "Death", "Mismatch", "Skip", "OtherPlan"};
  return kNames[static_cast<std::size_t>(scenario)];
}

SimulatedCase draw_stream_case(StreamScenario scenario, std::uint64_t seed) {
  const bool mismatch = scenario == StreamScenario::kMismatch;
  SimulatedCase c = draw_case(mismatch ? Scenario::kMismatch : Scenario::kClean, seed);
  if (seed % kOneShotEach == 4) make_one_shot(c, mismatch);
  // In most collectives a stranger finds out by itself; the leaf of a reduce may be through before anybody does.
  const auto leaves = [&c] { return c.ranks() > 2 && c.plan->what().collective.kind == CollectiveKind::kReduce; };
  for (std::uint64_t i = 1; scenario == StreamScenario::kOtherPlan && seed % 4 != 0 && !leaves() && i < 100; ++i)
    c = draw_case(Scenario::kClean, seed + 1'000'000 * i);
  if (scenario == StreamScenario::kSkip) c.stranger = static_cast<std::uint32_t>(seed % c.ranks());
  if (scenario == StreamScenario::kOtherPlan) {
    c.stranger = static_cast<std::uint32_t>(seed % c.ranks());
    if (c.ranks() > 1) c.foreign = other_plan(*c.plan, seed);
  }
  if (seed % kLongEach == 7 && !c.foreign) lengthen(c);
  return c;
}

std::string judge(StreamScenario scenario, const SimulatedCase& c, const StreamOutcome& outcome) {
  const auto want = interpret(*c.plan, c.inputs);
  if (!want) return want.error().text;
  if (outcome.hung) return "nobody can move, and some ranks are undecided";
  for (std::uint32_t r = 0; r < c.ranks(); ++r) {
    if (outcome.dead == r) continue;
    if (std::string wrong = judge_rank(scenario, c, outcome, r, (*want)[r]); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace hocket::test

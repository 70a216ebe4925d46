#include "planner/planner.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

#include "algorithms/packing/repair.h"
#include "planner/spread_routes.h"

namespace hocket {
namespace {

/// Segments that one simulation of the search for a segment size may send.
constexpr double kSearchSegmentsMax = 1.8e7;
constexpr std::int64_t kCoarsestSegment = std::int64_t{4} << 20;
constexpr std::int64_t kFinestSegment = std::int64_t{8} << 10;
/// The search ends where the filling of pipelines takes less than this share of the time.
constexpr double kFillingMax = 0.015;

void begin_step(const PlanningOptions& options, std::string_view what, std::string_view algorithm) {
  if (options.simulate.progress != nullptr) options.simulate.progress->begin(fmt::format("{} {}", what, algorithm));
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Looks for the segment size: coarse ones cost little and show how the time falls with the size.
class SegmentSearch {
 public:
  SegmentSearch(const Schedule& schedule, const BoundCollective& what) {
    const double piece_bytes = static_cast<double>(what.bytes().count) / schedule.division().pieces();
    for (const Op& op : schedule.ops()) {
      if (!op.sends()) continue;
      messages_ += 1;
      bytes_sent_ += op.count * piece_bytes;
      longest_ = std::max(longest_, op.count * piece_bytes);
    }
  }

  /// The coarsest size that cuts the longest message.
  [[nodiscard]] std::int64_t first() const {
    std::int64_t size = kCoarsestSegment;
    while (size > kFinestSegment && static_cast<double>(size) > longest_) size /= 2;
    return size;
  }

  /// The next size to try after `size` took `seconds`; 0: enough.
  std::int64_t next(std::int64_t size, double seconds) {
    const double slope = last_size_ == 0 ? 0 : (last_seconds_ - seconds) / static_cast<double>(last_size_ - size);
    const double filling = slope * static_cast<double>(size);
    const bool second = last_size_ == 0;
    last_size_ = size;
    last_seconds_ = seconds;
    if (!second && filling <= kFillingMax * seconds) return 0;
    std::int64_t finer = std::max(size / 4, kFinestSegment);
    while (!second && finer > kFinestSegment && segments(finer / 2) <= kSearchSegmentsMax &&
           slope * static_cast<double>(finer) > kFillingMax * (seconds - filling)) {
      finer /= 2;
    }
    while (finer < size && segments(finer) > kSearchSegmentsMax) finer *= 2;
    return finer < kFinestSegment || finer >= size ? 0 : finer;
  }

 private:
  [[nodiscard]] double segments(std::int64_t size) const {
    return std::max(messages_, bytes_sent_ / static_cast<double>(size));
  }

  double bytes_sent_ = 0;
  double messages_ = 0;
  double longest_ = 0;
  std::int64_t last_size_ = 0;
  double last_seconds_ = 0;
};

/// Of the same plan in finer segments, at most.
double more_passages(const SimulationResult& simulated, std::int64_t segment, std::int64_t finer) {
  const bool by_segment = simulated.model == NetworkModel::kMessage || simulated.model == NetworkModel::kFluid;
  const double times = by_segment ? static_cast<double>(segment) / static_cast<double>(finer) : 1;
  return simulated.passages * times;
}

/// Proves and simulates what took `synthesis_s` to plan.
Result<Candidate> evaluate(Schedule schedule, const Topology& topology, const BoundCollective& what,
                           const PlanningOptions& options, double synthesis_s) {
  begin_step(options, "proving", schedule.algorithm());
  const double planned = cpu_seconds();
  HOCKET_TRY_ASSIGN(const VerifiedSchedule verified, prove(std::move(schedule)));
  const double proof_s = cpu_seconds() - planned;
  HOCKET_TRY_ASSIGN(Candidate best, simulate_best(verified, topology, what, options));
  best.synthesis_s = synthesis_s;
  best.proof_s = proof_s;
  return best;
}

/// The candidate with its messages spread over the links, where that is faster: steps that are not one after another
/// may meet again where each of them is spread.
Result<Candidate> better_spread(Candidate plain, const Topology& topology, const BoundCollective& what,
                                const PlanningOptions& options) {
  if (plain.plan.schedule().route_count() > 0) return plain;
  const double start = cpu_seconds();
  HOCKET_TRY_ASSIGN(Schedule schedule, spread_routes(plain.plan.schedule(), topology));
  const double synthesis_s = plain.synthesis_s + cpu_seconds() - start;
  HOCKET_TRY_ASSIGN(Candidate spread, evaluate(std::move(schedule), topology, what, options, synthesis_s));
  return spread.simulated.time < plain.simulated.time ? std::move(spread) : std::move(plain);
}

std::string explain_choice(const Planning& planning) {
  const Candidate& best = planning.candidates[planning.chosen];
  const Candidate* second = nullptr;
  for (const Candidate& c : planning.candidates) {
    if (&c != &best && (second == nullptr || c.simulated.time < second->simulated.time)) second = &c;
  }
  const std::string time = format_seconds(to_seconds(best.simulated.time));
  if (best.plan.what().collective.ranks == 1) return "one rank needs no network: a copy from input to output";
  if (second == nullptr) return fmt::format("{} is the only candidate ({})", best.algorithm, time);
  if (second->simulated.time == best.simulated.time) {
    return fmt::format("{} and {} tie at {}; the first in the table is taken", best.algorithm, second->algorithm, time);
  }
  if (second->simulated.time < best.simulated.time)
    return fmt::format("{} has the best score: {}", best.algorithm, time);
  return fmt::format("{} has the least simulated time: {}, {:.2f}x faster than {}", best.algorithm, time,
                     static_cast<double>(second->simulated.time.count) /
                         static_cast<double>(std::max<std::int64_t>(1, best.simulated.time.count)),
                     second->algorithm);
}

/// Per rank of what is left its rank before.
Result<std::vector<std::uint32_t>> survivors_of(const Topology& before, const Topology& after) {
  std::map<std::string_view, std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < before.rank_count(); ++r) ranks[before.vertices()[before.vertex_of(r)].name] = r;
  std::vector<std::uint32_t> survivors;
  for (const VertexId v : after.ranks()) {
    const std::string& name = after.vertices()[v].name;
    const auto found = ranks.find(name);
    if (found == ranks.end()) return fail(Code::kMismatch, "'{}' was no rank before the loss", name);
    if (!survivors.empty() && survivors.back() >= found->second)
      return fail(Code::kUnsupported, "the ranks that are left have another order than before");
    survivors.push_back(found->second);
  }
  return survivors;
}

/// The algorithm with the least time, after the factors of the scores; the one they ask for where they do.
Result<void> choose(Planning& planning, const Topology& topology, const BoundCollective& what, const Scores& scores) {
  const CollectiveKind kind = what.collective.kind;
  const std::int64_t bytes = what.bytes().count;
  const auto score = [&](const Candidate& c) {
    return to_seconds(c.simulated.time).value * scores.factor(c.algorithm, topology, kind, bytes);
  };
  for (std::size_t i = 0; i < planning.candidates.size(); ++i) {
    if (score(planning.candidates[i]) < score(planning.candidates[planning.chosen])) planning.chosen = i;
  }
  planning.reason = explain_choice(planning);
  const std::string& fastest = planning.candidates[planning.chosen].algorithm;
  if (const double factor = scores.factor(fastest, topology, kind, bytes); factor != 1)
    planning.reason += fmt::format(" (its time counts {:g} times by the scores)", factor);
  const ScoreRule* const wish = scores.wish(topology, kind, bytes);
  if (wish == nullptr) return {};
  const auto wanted = std::find_if(planning.candidates.begin(), planning.candidates.end(),
                                   [&](const Candidate& c) { return c.algorithm == wish->algorithm; });
  if (wanted == planning.candidates.end()) {
    const auto skipped = std::find_if(planning.skipped.begin(), planning.skipped.end(),
                                      [&](const Skipped& s) { return s.algorithm == wish->algorithm; });
    return fail(Code::kUnsupported, "{}: {} cannot be taken: {}", wish->place, wish->algorithm,
                skipped == planning.skipped.end() ? "it is not among the algorithms asked for" : skipped->reason);
  }
  planning.wish = wish->place;
  planning.reason = fmt::format("{} asks for {} ({}); by time: {}", wish->place, wish->algorithm,
                                format_seconds(to_seconds(wanted->simulated.time)), planning.reason);
  planning.chosen = static_cast<std::size_t>(wanted - planning.candidates.begin());
  return {};
}

tl::unexpected<Error> cannot_plan(const Algorithm& algorithm, const PlanRequest& request, std::string_view reason) {
  return fail(Code::kUnsupported, "{} cannot plan this {}: {}", algorithm.name, name_of(request.collective.kind),
              reason);
}

tl::unexpected<Error> none_supports(std::string_view words, const PlanRequest& request) {
  return fail(Code::kUnsupported, "no algorithm{} supports {} on '{}'",
              words == "auto" || words == "all" ? "" : fmt::format(" of {}", words), name_of(request.collective.kind),
              request.topology.name());
}

}  // namespace

Result<Candidate> simulate_best(const VerifiedSchedule& verified, const Topology& topology, const BoundCollective& what,
                                const PlanningOptions& options) {
  std::optional<Candidate> best;
  SegmentSearch search(verified.schedule(), what);
  const bool whole = options.segment.count == 0 && options.simulate.interfaces.injection != Injection::kWhenReady;
  std::int64_t size = options.segment.count > 0 ? options.segment.count : search.first();
  if (whole) size = std::max<std::int64_t>(what.bytes().count, size_of(what.type));  // lock step moves whole messages
  double passages = 0;
  while (size > 0) {
    begin_step(options, "simulating " + format_bytes(what.bytes()) + " by", verified.schedule().algorithm());
    HOCKET_TRY_ASSIGN(Plan plan, Plan::bind(verified, what, {size}));
    Result<SimulationResult> simulated = simulate(plan, topology, options.simulate);
    if (!simulated && best && simulated.error().code == Code::kResourceExhausted) break;  // coarser ones were not
    HOCKET_TRY_ASSIGN(SimulationResult result, std::move(simulated));
    passages += result.passages;
    const std::int64_t finer =
        whole || options.segment.count > 0 ? 0 : search.next(size, to_seconds(result.time).value);
    const bool too_much = finer > 0 && passages + more_passages(result, size, finer) > passages_max(result.model);
    size = too_much ? 0 : finer;
    if (best && !(result.time < best->simulated.time)) continue;
    best = Candidate{verified.schedule().algorithm(), std::move(plan), std::move(result)};
  }
  return std::move(*best);
}

Result<VerifiedSchedule> plan_algorithm(const Algorithm& algorithm, const PlanRequest& request) {
  if (request.collective.ranks == 1) {
    HOCKET_TRY_ASSIGN(Schedule single, plan_single_rank(request.collective));
    return prove(std::move(single));
  }
  if (const std::string reason = algorithm.supports(request); !reason.empty())
    return cannot_plan(algorithm, request, reason);
  HOCKET_TRY_ASSIGN(Schedule schedule, algorithm.plan(request));
  return prove(std::move(schedule));
}

Result<std::vector<const Algorithm*>> algorithms_named(std::string_view words) {
  if (words == "auto" || words == "all") return std::vector<const Algorithm*>(algorithms().begin(), algorithms().end());
  std::vector<const Algorithm*> named;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    if (end == begin)
      return fail(Code::kInvalidArgument, "the list of algorithms '{}' has an empty name", words.substr(0, 80));
    HOCKET_TRY_ASSIGN(const Algorithm* const one, find_algorithm(words.substr(begin, end - begin)));
    named.push_back(one);
    begin = end + 1;
  }
  std::vector<const Algorithm*> table;
  for (const Algorithm* algorithm : algorithms()) {
    if (std::find(named.begin(), named.end(), algorithm) != named.end()) table.push_back(algorithm);
  }
  return table;
}

Result<void> check_algorithms(std::string_view words, const PlanRequest& request) {
  HOCKET_TRY_ASSIGN(const std::vector<const Algorithm*> table, algorithms_named(words));
  if (request.collective.ranks == 1) return {};
  const auto supports = [&](const Algorithm* a) { return a->supports(request).empty(); };
  if (std::any_of(table.begin(), table.end(), supports)) return {};
  if (table.size() == 1) return cannot_plan(*table.front(), request, table.front()->supports(request));
  return none_supports(words, request);
}

Result<Planning> plan_collective(const Topology& topology, const BoundCollective& what,
                                 const PlanningOptions& options) {
  HOCKET_TRY(validate(what));
  if (what.collective.ranks != topology.rank_count()) {
    return fail(Code::kMismatch, "the collective has {} ranks, the topology {}", what.collective.ranks,
                topology.rank_count());
  }
  HOCKET_TRY_ASSIGN(const std::vector<const Algorithm*> table, algorithms_named(options.algorithm));
  const bool every = table.size() > 1;
  Planning planning;
  begin_step(options, "computing", "the bound");
  planning.bound = lower_bound(topology, what);
  PlanningOptions with_bound = options;
  with_bound.simulate.bound = &planning.bound;
  std::optional<Error> first_beyond;  // what a simulation cannot hold of one algorithm must not take the others with it
  const PlanRequest request{topology, what.collective};
  for (const Algorithm* algorithm : table) {
    const std::string reason = what.collective.ranks == 1 ? std::string() : algorithm->supports(request);
    if (!reason.empty()) {
      if (!every) return cannot_plan(*algorithm, request, reason);
      planning.skipped.push_back({std::string(algorithm->name), reason});
      continue;
    }
    begin_step(options, "planning", algorithm->name);
    const double start = cpu_seconds();
    HOCKET_TRY_ASSIGN(Schedule schedule,
                      what.collective.ranks == 1 ? plan_single_rank(what.collective) : algorithm->plan(request));
    const double synthesis_s = cpu_seconds() - start;
    Result<Candidate> candidate = evaluate(std::move(schedule), topology, what, with_bound, synthesis_s);
    if (candidate && options.spread) candidate = better_spread(std::move(*candidate), topology, what, with_bound);
    if (!candidate && candidate.error().code == Code::kDisproved) {
      // A faulty algorithm must not take the others with it.
      const std::string text = fmt::format("its schedule is wrong: {}", candidate.error().text);
      if (!every) return fail(Code::kDisproved, "{}: {}", algorithm->name, text);
      planning.skipped.push_back({std::string(algorithm->name), text});
      continue;
    }
    const bool beyond = !candidate && (candidate.error().code == Code::kUnsupported ||
                                       candidate.error().code == Code::kResourceExhausted ||
                                       candidate.error().code == Code::kInvalidArgument);
    if (every && beyond) {
      if (!first_beyond) first_beyond = candidate.error();
      planning.skipped.push_back({std::string(algorithm->name), candidate.error().text});
      continue;
    }
    if (!candidate) return tl::unexpected<Error>(std::move(candidate.error()));
    candidate->algorithm = what.collective.ranks == 1 ? "copy" : algorithm->name;
    planning.candidates.push_back(std::move(*candidate));
    if (planning.candidates.back().simulated.time < planning.candidates[planning.chosen].simulated.time) {
      planning.chosen = planning.candidates.size() - 1;
    }
    if (what.collective.ranks == 1) break;
  }
  if (planning.candidates.empty() && first_beyond) return tl::unexpected<Error>(std::move(*first_beyond));
  if (planning.candidates.empty()) return none_supports(options.algorithm, request);
  if (options.scores != nullptr && every && what.collective.ranks > 1) {
    HOCKET_TRY(choose(planning, topology, what, *options.scores));
    return planning;
  }
  planning.reason = explain_choice(planning);
  return planning;
}

Result<Planning> repair_plan(const Schedule& old, const Topology& before, const Topology& topology,
                             const BoundCollective& what, const PlanningOptions& options) {
  HOCKET_TRY(validate(what));
  if (old.rank_count() != before.rank_count()) {
    return fail(Code::kMismatch, "the schedule has {} ranks, the network before the loss {}", old.rank_count(),
                before.rank_count());
  }
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> survivors, survivors_of(before, topology));
  const Collective& was = old.collective();
  if (is_rooted(was.kind) && std::find(survivors.begin(), survivors.end(), was.root) == survivors.end())
    return fail(Code::kUnsupported, "the root, rank {}, is among what is lost: plan anew with another root", was.root);
  const bool root_stays = !is_rooted(was.kind) || survivors[what.collective.root] == was.root;
  if (was.kind != what.collective.kind || !root_stays) {
    return fail(Code::kMismatch, "the schedule is for {} (root {}), asked for {} (root {})", name_of(was.kind),
                was.root, name_of(what.collective.kind), survivors[what.collective.root]);
  }
  const double start = cpu_seconds();
  HOCKET_TRY_ASSIGN(Schedule repaired, repair_schedule(old, topology, survivors));
  const double synthesis_s = cpu_seconds() - start;
  Planning planning;
  planning.bound = lower_bound(topology, what);
  PlanningOptions with_bound = options;
  with_bound.simulate.bound = &planning.bound;
  HOCKET_TRY_ASSIGN(Candidate candidate, evaluate(std::move(repaired), topology, what, with_bound, synthesis_s));
  planning.candidates.push_back(std::move(candidate));
  planning.reason = fmt::format("{} repaired in {}", old.algorithm(), format_seconds({synthesis_s}));
  return planning;
}

double algbw_Bps(const BoundCollective& what, Picos time) {
  return time.count <= 0 ? 0 : static_cast<double>(what.bytes().count) / to_seconds(time).value;
}

double busbw_Bps(const BoundCollective& what, Picos time) {
  return algbw_Bps(what, time) * bus_factor(what.collective);
}

}  // namespace hocket

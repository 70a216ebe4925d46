#include "planner/windows.h"

#include <algorithm>
#include <optional>
#include <span>

#include "planner/spread_routes.h"

namespace hocket {
namespace {

constexpr double kBorderWithin = 1.05;

/// The best at one size.
struct Sample {
  std::int64_t bytes = 0;
  std::size_t winner = 0;  // index into the schedules
  Bytes segment;
  double time_s = 0;
  double fraction = 0;
};

class WindowSearch {
 public:
  WindowSearch(const Topology& topology, const BoundCollective& what, const PlanningOptions& options)
      : topology_(topology), what_(what), options_(options) {}

  Result<void> plan_all() {
    HOCKET_TRY_ASSIGN(const auto table, algorithms_named(options_.algorithm));
    for (const Algorithm* algorithm : table) {
      if (!algorithm->supports({topology_, what_.collective}).empty()) continue;
      if (Progress* progress = options_.simulate.progress; progress != nullptr) {
        progress->begin(fmt::format("planning and proving {}", algorithm->name));
      }
      HOCKET_TRY_ASSIGN(VerifiedSchedule verified, plan_algorithm(*algorithm, {topology_, what_.collective}));
      schedules_.push_back({std::move(verified)});
      if (options_.spread) HOCKET_TRY(add_spread(schedules_.back()));
      names_.emplace_back(algorithm->name);
    }
    if (!schedules_.empty()) return {};
    return fail(Code::kUnsupported, "no algorithm supports {} on '{}'", name_of(what_.collective.kind),
                topology_.name());
  }

  /// Every algorithm that the scores ask for in [from, to] must be there.
  [[nodiscard]] Result<void> check_wishes(std::int64_t from, std::int64_t to) const {
    if (options_.scores == nullptr) return {};
    for (const ScoreRule& rule : options_.scores->rules()) {
      if (rule.algorithm.empty() || rule.to < from || rule.from > to) continue;
      const std::int64_t bytes = std::max(rule.from, from);
      if (options_.scores->wish(topology_, what_.collective.kind, bytes) != &rule) continue;
      if (std::find(names_.begin(), names_.end(), rule.algorithm) != names_.end()) continue;
      return fail(Code::kUnsupported, "{}: {} cannot be taken: it is not among the algorithms that do this {}",
                  rule.place, rule.algorithm, name_of(what_.collective.kind));
    }
    return {};
  }

  /// Simulates those of `among` (all when empty) at about `bytes`.
  Result<Sample> best_at(std::int64_t bytes, std::span<const std::size_t> among) {
    BoundCollective what = what_;
    what.count = std::max<std::int64_t>(1, bytes / size_of(what.type));
    if (is_blocked(what.collective.kind)) {
      what.count = std::max<std::int64_t>(1, what.count / what.collective.ranks) * what.collective.ranks;
    }
    const Bound bound = lower_bound(topology_, what);
    PlanningOptions options = options_;
    options.simulate.bound = &bound;
    std::optional<Sample> best;
    double best_score = 0;
    const std::string wanted = wanted_at(what.bytes().count, among);
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      if (!among.empty() && std::find(among.begin(), among.end(), i) == among.end()) continue;
      HOCKET_TRY_ASSIGN(const Candidate c, faster_way(schedules_[i], what, options));
      const double time = to_seconds(c.simulated.time).value;
      const double score = time * factor_at(names_[i], what.bytes().count);
      const bool wins = names_[i] == wanted || (!(best && names_[best->winner] == wanted) && score < best_score);
      if (best && !wins) continue;
      best = Sample{bytes, i, c.plan.segment(), time, c.simulated.fraction_of_bound()};
      best_score = score;
    }
    return *best;
  }

  /// Narrows the gap between two winners; moves each end to where its winner was last seen.
  Result<void> find_border(Sample& low, Sample& high) {
    const std::size_t pair[] = {low.winner, high.winner};
    while (static_cast<double>(high.bytes) > kBorderWithin * static_cast<double>(low.bytes) &&
           high.bytes - low.bytes > size_of(what_.type)) {
      HOCKET_TRY_ASSIGN(const Sample middle, best_at(low.bytes + (high.bytes - low.bytes) / 2, pair));
      (middle.winner == low.winner ? low : high) = middle;
    }
    return {};
  }

  [[nodiscard]] const std::string& name(std::size_t index) const { return names_[index]; }

 private:
  /// One schedule of an algorithm, or two: its own and that with its messages spread over the links.
  using Ways = std::vector<VerifiedSchedule>;

  Result<void> add_spread(Ways& ways) const {
    if (ways.front().schedule().route_count() > 0) return {};
    HOCKET_TRY_ASSIGN(Schedule spread, spread_routes(ways.front().schedule(), topology_));
    HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(spread)));
    ways.push_back(std::move(verified));
    return {};
  }

  [[nodiscard]] Result<Candidate> faster_way(const Ways& ways, const BoundCollective& what,
                                             const PlanningOptions& options) const {
    HOCKET_TRY_ASSIGN(Candidate own, simulate_best(ways.front(), topology_, what, options));
    if (ways.size() == 1) return own;
    HOCKET_TRY_ASSIGN(Candidate spread, simulate_best(ways.back(), topology_, what, options));
    return spread.simulated.time < own.simulated.time ? std::move(spread) : std::move(own);
  }

  /// The algorithm that the scores ask for, if it is among the schedules (those of `among`, all when empty).
  [[nodiscard]] std::string wanted_at(std::int64_t bytes, std::span<const std::size_t> among) const {
    if (options_.scores == nullptr) return "";
    const ScoreRule* const wish = options_.scores->wish(topology_, what_.collective.kind, bytes);
    if (wish == nullptr) return "";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool asked = among.empty() || std::find(among.begin(), among.end(), i) != among.end();
      if (asked && names_[i] == wish->algorithm) return wish->algorithm;
    }
    return "";
  }
  [[nodiscard]] double factor_at(const std::string& name, std::int64_t bytes) const {
    return options_.scores == nullptr ? 1 : options_.scores->factor(name, topology_, what_.collective.kind, bytes);
  }

  const Topology& topology_;
  BoundCollective what_;
  PlanningOptions options_;
  std::vector<Ways> schedules_;  // per algorithm
  std::vector<std::string> names_;
};

SizeWindow window_of(const Sample& first, const Sample& last, const std::string& name) {
  return {.from = {first.bytes},
          .to = {last.bytes},
          .algorithm = name,
          .segment_from = first.segment,
          .segment_to = last.segment,
          .time_from_s = first.time_s,
          .time_to_s = last.time_s,
          .fraction_from = first.fraction,
          .fraction_to = last.fraction};
}

/// Windows of [from, to], the first of them joined with the last of `windows` where both have one winner.
Result<void> add_windows(WindowSearch& search, std::int64_t from, std::int64_t to, std::vector<SizeWindow>& windows) {
  const auto add = [&](const SizeWindow& window) {
    if (windows.empty() || windows.back().algorithm != window.algorithm) return windows.push_back(window);
    SizeWindow& joined = windows.back();
    joined.to = window.to;
    joined.segment_to = window.segment_to;
    joined.time_to_s = window.time_to_s;
    joined.fraction_to = window.fraction_to;
  };
  HOCKET_TRY_ASSIGN(Sample first, search.best_at(from, {}));
  Sample last = first;
  while (last.bytes < to) {
    const std::int64_t doubled = last.bytes > to / 2 ? to : 2 * last.bytes;
    HOCKET_TRY_ASSIGN(Sample next, search.best_at(doubled, {}));
    if (next.winner != last.winner) {
      Sample high = next;
      HOCKET_TRY(search.find_border(last, high));
      SizeWindow window = window_of(first, last, search.name(last.winner));
      window.to = {high.bytes - 1};
      add(window);
      first = high;
    }
    last = next;
  }
  add(window_of(first, last, search.name(last.winner)));
  return {};
}

}  // namespace

Result<std::vector<SizeWindow>> plan_windows(const Topology& topology, const BoundCollective& what, Bytes from,
                                             Bytes to, const PlanningOptions& options) {
  if (from.count <= 0 || to < from)
    return fail(Code::kInvalidArgument, "sizes from {} to {}: nothing between", format_bytes(from), format_bytes(to));
  WindowSearch search(topology, what, options);
  HOCKET_TRY(search.plan_all());
  HOCKET_TRY(search.check_wishes(from.count, to.count));
  std::vector<SizeWindow> windows;
  std::int64_t begin = from.count;
  std::vector<std::int64_t> cuts = options.scores == nullptr ? std::vector<std::int64_t>{} : options.scores->borders();
  cuts.push_back(to.count + 1);
  for (const std::int64_t cut : cuts) {
    if (cut <= begin || begin > to.count) continue;
    HOCKET_TRY(add_windows(search, begin, std::min(cut - 1, to.count), windows));
    begin = cut;
  }
  return windows;
}

Result<std::pair<Bytes, Bytes>> parse_size_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(Code::kInvalidArgument, "'{}' is not a range of sizes: wanted FROM:TO, as in 1KiB:1GiB", text);
  HOCKET_TRY_ASSIGN(const Bytes from, parse_bytes(text.substr(0, colon)));
  HOCKET_TRY_ASSIGN(const Bytes to, parse_bytes(text.substr(colon + 1)));
  if (from.count <= 0 || to < from)
    return fail(Code::kInvalidArgument, "'{}' is not a range of sizes: {} to {}", text, format_bytes(from),
                format_bytes(to));
  return std::pair{from, to};
}

}  // namespace hocket

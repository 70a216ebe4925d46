#include "planner/windows.h"

#include <algorithm>
#include <optional>
#include <span>

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
    for (const Algorithm* algorithm : algorithms()) {
      if (!algorithm->supports({topology_, what_.collective}).empty()) continue;
      if (Progress* progress = options_.simulate.progress; progress != nullptr) {
        progress->begin(fmt::format("planning and proving {}", algorithm->name));
      }
      HOCKET_TRY_ASSIGN(VerifiedSchedule verified, plan_algorithm(*algorithm, {topology_, what_.collective}));
      schedules_.push_back(std::move(verified));
      names_.emplace_back(algorithm->name);
    }
    if (!schedules_.empty()) return {};
    return fail(Code::kUnsupported, "no algorithm supports {} on '{}'", name_of(what_.collective.kind),
                topology_.name());
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
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      if (!among.empty() && std::find(among.begin(), among.end(), i) == among.end()) continue;
      HOCKET_TRY_ASSIGN(const Candidate c, simulate_best(schedules_[i], topology_, what, options));
      const double time = to_seconds(c.simulated.time).value;
      if (!best || time < best->time_s)
        best = Sample{bytes, i, c.plan.segment(), time, c.simulated.fraction_of_bound()};
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
  const Topology& topology_;
  BoundCollective what_;
  PlanningOptions options_;
  std::vector<VerifiedSchedule> schedules_;
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

}  // namespace

Result<std::vector<SizeWindow>> plan_windows(const Topology& topology, const BoundCollective& what, Bytes from,
                                             Bytes to, const PlanningOptions& options) {
  if (from.count <= 0 || to < from)
    return fail(Code::kInvalidArgument, "sizes from {} to {}: nothing between", format_bytes(from), format_bytes(to));
  WindowSearch search(topology, what, options);
  HOCKET_TRY(search.plan_all());
  std::vector<SizeWindow> windows;
  HOCKET_TRY_ASSIGN(Sample first, search.best_at(from.count, {}));
  Sample last = first;
  while (last.bytes < to.count) {
    const std::int64_t doubled = last.bytes > to.count / 2 ? to.count : 2 * last.bytes;
    HOCKET_TRY_ASSIGN(Sample next, search.best_at(doubled, {}));
    if (next.winner != last.winner) {
      Sample high = next;
      HOCKET_TRY(search.find_border(last, high));
      windows.push_back(window_of(first, last, search.name(last.winner)));
      windows.back().to = {high.bytes - 1};
      first = high;
    }
    last = next;
  }
  windows.push_back(window_of(first, last, search.name(last.winner)));
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

#include "report/page/rows.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace hocket {
namespace {

/// A pause shorter than this part of the run is below what a screen shows of the whole.
constexpr std::int64_t kPausesPerRun = 2000;

using PerLink = std::vector<std::vector<Bar>>;

std::size_t count_bars(const PerLink& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::size_t{0},
                         [](std::size_t sum, const std::vector<Bar>& row) { return sum + row.size(); });
}

/// Bars per link in order of begin, segments of one transfer joined where they touch.
PerLink join_segments(const SimulationResult& r) {
  std::vector<LinkInterval> intervals = r.timeline;
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const LinkInterval& a, const LinkInterval& b) { return a.begin < b.begin; });
  PerLink rows(r.link_bytes.size());
  for (const LinkInterval& interval : intervals) {
    std::vector<Bar>& row = rows[interval.link];
    if (!row.empty() && row.back().op == interval.op && interval.begin <= row.back().end) {
      row.back().end = std::max(row.back().end, interval.end);
    } else {
      row.push_back({interval.begin, interval.end, interval.op, 0});
    }
  }
  return rows;
}

/// How far bars are joined.
struct Joining {
  Picos grain;  // longest joined bar
  Picos pause;  // longest gap inside one
};

/// Bars of one kind that touch, or nearly, become one.
std::vector<Bar> join_turns(const Schedule& schedule, const std::vector<Bar>& row, Joining most) {
  std::vector<Bar> joined;
  std::vector<OpId> ops;  // of the last joined bar, each once
  for (const Bar& bar : row) {
    const bool joins = !joined.empty() && bar.begin <= joined.back().end + most.pause &&
                       bar.end - joined.back().begin <= most.grain &&
                       adds_up(schedule, bar.op) == adds_up(schedule, joined.back().op);
    if (!joins) {
      joined.push_back(bar);
      ops.assign(1, bar.op);
      continue;
    }
    if (std::find(ops.begin(), ops.end(), bar.op) == ops.end()) ops.push_back(bar.op);
    joined.back().end = std::max(joined.back().end, bar.end);
    joined.back().others = static_cast<std::uint32_t>(ops.size() - 1);
  }
  return joined;
}

std::string note_of(const SimulationResult& r, std::size_t shown, const std::optional<Joining>& joined) {
  std::string note;
  if (joined) note = "Transfers that take turns on a link are drawn as one bar.";
  if (joined && joined->pause.count > 0)
    note += fmt::format(" Pauses up to {} inside one are not shown.", format_seconds(to_seconds(joined->pause)));
  if (shown < r.links_used)
    note += fmt::format("{}{} of {} used links are shown, as many as fit, those in use the longest first.",
                        note.empty() ? "" : " ", shown, r.links_used);
  if (r.timeline_dropped > 0)
    note += fmt::format("{}Only the first {} of {} segments are considered.", note.empty() ? "" : " ",
                        r.timeline.size(), r.timeline.size() + r.timeline_dropped);
  return note;
}

/// Joins more and more until the rows fit; what was needed, or nothing when they fit as they are.
std::optional<Joining> join_until_few(const Schedule& schedule, const SimulationResult& r, PerLink& rows) {
  if (count_bars(rows) <= kBarsMax) return std::nullopt;
  const PerLink whole = rows;
  const auto links = static_cast<std::int64_t>(std::max<std::size_t>(1, r.links_used));
  const std::int64_t per_row = std::max<std::int64_t>(1, static_cast<std::int64_t>(kBarsMax) / links);
  Joining most{{r.time.count / per_row}, {0}};
  for (int attempt = 0; attempt < 4; ++attempt) {
    for (std::size_t link = 0; link < rows.size(); ++link) rows[link] = join_turns(schedule, whole[link], most);
    if (count_bars(rows) <= kBarsMax) break;
    most = {{most.grain.count * 2}, {r.time.count / kPausesPerRun}};
  }
  return most;
}

}  // namespace

bool adds_up(const Schedule& schedule, OpId send) {
  const OpId other = schedule.match(send);
  return other != kNoOp && schedule.op(other).combines();
}

Rows choose_rows(const Schedule& schedule, const SimulationResult& r) {
  PerLink per_link = join_segments(r);
  const std::optional<Joining> joined = join_until_few(schedule, r, per_link);
  std::vector<LinkId> order(per_link.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](LinkId a, LinkId b) { return r.link_busy[a] > r.link_busy[b]; });
  Rows rows;
  std::size_t shown = 0;
  for (const LinkId link : order) {
    if (per_link[link].empty() || (shown > 0 && shown + per_link[link].size() > kBarsMax)) continue;
    shown += per_link[link].size();
    rows.links.push_back(link);
  }
  std::sort(rows.links.begin(), rows.links.end());
  for (const LinkId link : rows.links) rows.bars.push_back(std::move(per_link[link]));
  rows.note = note_of(r, rows.links.size(), joined);
  return rows;
}

}  // namespace hocket

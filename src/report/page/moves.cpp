#include "report/page/moves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "report/page/rows.h"
#include "simulator/routes.h"

namespace hocket {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kUnitsMax = 10'000'000;  // the whole run in at most so many units of time

/// The longest chain of transfers that must come before each op. A proved schedule has no cycle.
std::vector<std::uint32_t> chain_lengths(const Schedule& schedule) {
  const std::size_t n = schedule.ops().size();
  std::vector<std::vector<OpId>> after(n);
  std::vector<std::uint32_t> waits(n, 0);
  std::vector<std::uint32_t> length(n, 0);
  for (OpId id = 0; id < n; ++id) {
    for (const Dependency dependency : schedule.dependencies(id)) after[dependency.on()].push_back(id);
    waits[id] += static_cast<std::uint32_t>(schedule.dependencies(id).size());
    if (!schedule.op(id).sends()) continue;
    after[id].push_back(schedule.match(id));
    ++waits[schedule.match(id)];
  }
  std::vector<OpId> ready;
  for (OpId id = 0; id < n; ++id) {
    if (waits[id] == 0) ready.push_back(id);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::uint32_t sent = schedule.op(ready[i]).sends() ? 1 : 0;
    for (const OpId next : after[ready[i]]) {
      const bool arrives = sent == 1 && schedule.match(ready[i]) == next;
      length[next] = std::max(length[next], length[ready[i]] + (arrives ? 1 : 0));
      if (--waits[next] == 0) ready.push_back(next);
    }
  }
  return length;
}

/// The algorithm's own steps; files that know none are stepped through by what has to come first.
std::vector<std::uint32_t> steps_of(const Schedule& schedule) {
  if (schedule.steps() <= 1) return chain_lengths(schedule);
  std::vector<std::uint32_t> steps;
  for (const Op& op : schedule.ops()) steps.push_back(op.step);
  return steps;
}

/// Transfers that the page mentions, numbered in the order in which they are first asked for.
class SendTable {
 public:
  SendTable(const Plan& plan, FlatRoutes routes)
      : plan_(plan), routes_(std::move(routes)), steps_(steps_of(plan.schedule())) {}

  [[nodiscard]] std::uint32_t step(OpId op) const { return steps_[op]; }

  std::size_t index(OpId op) {
    const auto [at, added] = index_.try_emplace(op, index_.size());
    if (added) append(op);
    return at->second;
  }
  [[nodiscard]] const ordered_json& sends() const { return sends_; }
  [[nodiscard]] const ordered_json& routes() const { return route_list_; }

 private:
  void append(OpId id) {
    const Schedule& schedule = plan_.schedule();
    const Op& op = schedule.op(id);
    const auto links = routes_.of(id);
    const std::vector<LinkId> route(links.begin(), links.end());
    const auto [at, added] = route_index_.try_emplace(route, route_index_.size());
    if (added) route_list_.push_back(route);
    const std::uint64_t row[] = {schedule.rank_of(id),
                                 op.peer,
                                 step(id),
                                 adds_up(schedule, id) ? 1U : 0U,
                                 static_cast<std::uint64_t>(plan_.bytes(id)),
                                 at->second};
    for (const std::uint64_t figure : row) sends_.push_back(figure);
  }

  const Plan& plan_;
  FlatRoutes routes_;
  std::vector<std::uint32_t> steps_;  // per op
  std::map<OpId, std::size_t> index_;
  std::map<std::vector<LinkId>, std::size_t> route_index_;
  ordered_json sends_ = ordered_json::array();
  ordered_json route_list_ = ordered_json::array();
};

struct Share {
  std::uint32_t pieces = 0;
  std::int64_t bytes = 0;
  std::vector<OpId> sends;
};

/// Where pieces may change their number on the way, no share can be followed.
bool keeps_numbers(const Schedule& schedule) {
  return schedule.collective().kind != CollectiveKind::kAllToAll && !schedule.division().uniform;
}

/// First pieces of the runs that no op cuts: pieces of one run always move together.
std::vector<std::uint32_t> run_starts(const Schedule& schedule) {
  if (!keeps_numbers(schedule)) return {0};
  const std::uint32_t pieces = schedule.division().pieces();
  std::vector<bool> starts(pieces + std::size_t{1}, false);
  starts[0] = true;
  for (const Op& op : schedule.ops()) {
    if (!op.sends() || op.count == 0) continue;
    starts[op.source_piece % pieces] = true;
    starts[(op.source_piece % pieces + op.count) % pieces] = true;
  }
  std::vector<std::uint32_t> list;
  for (std::uint32_t p = 0; p < pieces; ++p) {
    if (starts[p]) list.push_back(p);
  }
  return list;
}

/// Runs with the transfers that carry them, the first kSharesMax; runs with the same transfers become one share.
std::vector<Share> shares_of(const Plan& plan, std::size_t& runs) {
  const Schedule& schedule = plan.schedule();
  const std::uint32_t pieces = schedule.division().pieces();
  std::vector<std::uint32_t> starts = run_starts(schedule);
  runs = starts.size();
  starts.resize(std::min(starts.size(), kSharesMax));
  std::vector<Share> shares(starts.size());
  const std::size_t size = static_cast<std::size_t>(size_of(plan.what().type));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint32_t end = i + 1 < starts.size() ? starts[i + 1] : runs > starts.size() ? starts[i] + 1 : pieces;
    shares[i].pieces = end - starts[i];
    shares[i].bytes =
        schedule.division().length(starts[i], shares[i].pieces, plan.what().count) * static_cast<std::int64_t>(size);
  }
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    if (!op.sends() || op.count == 0) continue;
    const std::uint32_t first = keeps_numbers(schedule) ? op.source_piece % pieces : 0;
    auto at = std::lower_bound(starts.begin(), starts.end(), first);
    for (; at != starts.end() && *at < first + op.count; ++at)
      shares[static_cast<std::size_t>(at - starts.begin())].sends.push_back(id);
  }
  return shares;
}

ordered_json shares_json(const Plan& plan, SendTable& table, std::string& note) {
  ordered_json list = ordered_json::array();
  std::size_t runs = 0;
  std::size_t sends = 0;
  std::vector<Share> shares = shares_of(plan, runs);
  for (Share& share : shares) {
    sends += share.sends.size();
    if (sends > kShareSendsMax && !list.empty()) break;
    std::stable_sort(share.sends.begin(), share.sends.end(),
                     [&](OpId a, OpId b) { return table.step(a) < table.step(b); });
    share.sends.resize(std::min(share.sends.size(), kShareSendsMax));
    ordered_json indices = ordered_json::array();
    for (const OpId id : share.sends) indices.push_back(table.index(id));
    list.push_back({{"bytes", share.bytes}, {"sends", std::move(indices)}});
  }
  if (list.size() < runs) note = fmt::format("The first {} of {} shares are shown.", list.size(), runs);
  return list;
}

ordered_json bars_json(const std::vector<Bar>& bars, std::int64_t unit, SendTable& table) {
  ordered_json list = ordered_json::array();
  std::int64_t at = 0;
  for (const Bar& bar : bars) {
    const std::int64_t begin = bar.begin.count / unit;
    const std::int64_t end = std::max(begin, (bar.end.count + unit - 1) / unit);
    list.push_back(begin - at);
    list.push_back(end - begin);
    list.push_back(table.index(bar.op));
    list.push_back(bar.others);
    at = end;
  }
  return list;
}

Result<ordered_json> plan_json(const PageEntry& e, const PagePlan& p) {
  SimulateOptions options = e.simulate;
  options.timeline = true;
  options.timeline_max = kSegmentsMax;
  options.bound = &e.bound;
  HOCKET_TRY_ASSIGN(const SimulationResult r, simulate(*p.plan, e.topology, options));
  HOCKET_TRY_ASSIGN(FlatRoutes routes, FlatRoutes::resolve(p.plan->schedule(), e.topology));
  SendTable table(*p.plan, std::move(routes));
  std::int64_t unit = 1;
  while (r.time.count / unit > kUnitsMax) unit *= 10;
  ordered_json out = {{"name", p.name},
                      {"file", p.file},
                      {"time_ps", r.time.count},
                      {"steps", p.plan->schedule().steps()},
                      {"link_bytes", r.link_bytes}};
  ordered_json held = ordered_json::array();
  for (LinkId link = 0; link < r.link_busy.size(); ++link) held.push_back(std::lround(1000 * r.utilisation(link)));
  out["link_held_permille"] = std::move(held);
  std::string shares_note;
  out["shares"] = shares_json(*p.plan, table, shares_note);
  out["shares_note"] = shares_note;
  const Rows rows = choose_rows(p.plan->schedule(), r);
  out["unit_ps"] = unit;
  out["rows"] = rows.links;
  out["bars"] = ordered_json::array();
  for (const auto& bars : rows.bars) out["bars"].push_back(bars_json(bars, unit, table));
  out["bars_note"] = rows.note;
  out["sends"] = table.sends();
  out["routes"] = table.routes();
  return out;
}

}  // namespace

Result<ordered_json> describe_moves(const PageEntry& e) {
  ordered_json out = {{"bound_s", e.bound.time.value}, {"chosen", e.chosen()}};
  out["vertices"] = ordered_json::array();
  for (const Vertex& v : e.topology.vertices()) out["vertices"].push_back(v.name);
  out["ranks"] = std::vector<VertexId>(e.topology.ranks().begin(), e.topology.ranks().end());
  out["links"] = ordered_json::array();
  for (const Link& l : e.topology.links()) out["links"].push_back({l.from, l.to, l.bandwidth.value, l.latency.value});
  out["plans"] = ordered_json::array();
  for (const PagePlan& p : e.plans) {
    HOCKET_TRY_ASSIGN(ordered_json plan, plan_json(e, p));
    out["plans"].push_back(std::move(plan));
  }
  return out;
}

}  // namespace hocket

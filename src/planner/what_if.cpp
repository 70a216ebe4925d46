#include "planner/what_if.h"

#include <algorithm>
#include <cmath>

namespace hocket {
namespace {

constexpr std::size_t kCablesMost = 3;
constexpr double kWithin = 1.05, kStride = 2;
/// Simulations of every candidate that one cable may need: doublings and halvings, both ways.
constexpr double kProbesMost = 2 * (6 + 5);

class RateSearch {
 public:
  RateSearch(const Topology& topology, const BoundCollective& what, const Planning& planning,
             const PlanningOptions& options)
      : topology_(topology), what_(what), planning_(planning), options_(options) {
    for (std::size_t i = 0; i < planning.candidates.size(); ++i) rivals_.push_back(i);
    std::stable_sort(rivals_.begin(), rivals_.end(), [&](std::size_t a, std::size_t b) {
      return planning.candidates[a].simulated.time < planning.candidates[b].simulated.time;
    });
    const auto chosen = std::find(rivals_.begin(), rivals_.end(), planning.chosen);
    std::rotate(rivals_.begin(), chosen, chosen + 1);  // the chosen first
  }

  Result<WhatIf> run() {
    WhatIf result;
    if (rivals_.size() < 2) {
      result.left_out = "there is no other candidate";
      return result;
    }
    if (!planning_.wish.empty()) {
      result.left_out = "the score file decides, whatever the rates";
      return result;
    }
    const std::vector<LinkId> cables = cables_to_try();
    while (rivals_.size() > 2 && cost(cables.size()) > kEventsMost) {
      rivals_.pop_back();
      result.left_out = fmt::format("of the other candidates the fastest {} were looked at", rivals_.size() - 1);
    }
    if (cost(cables.size()) > kEventsMost) {
      result.left_out = fmt::format("not looked for: it takes up to {:.2g} simulated events", cost(cables.size()));
      return result;
    }
    for (const LinkId link : cables) {
      const std::size_t before = result.changes.size();
      for (const double stride : {1 / kStride, kStride}) {
        HOCKET_TRY_ASSIGN(const CableChange change, search(link, stride));
        if (change.factor != 1) result.changes.push_back(change);
      }
      if (result.changes.size() == before) result.changes.push_back({link, 1, ""});
    }
    return result;
  }

 private:
  [[nodiscard]] double cost(std::size_t cables) const {
    double events = 0;
    for (const std::size_t i : rivals_) events += static_cast<double>(planning_.candidates[i].simulated.events);
    return events * kProbesMost * static_cast<double>(cables);
  }

  [[nodiscard]] bool same_cable(LinkId a, LinkId b) const {
    const Link& x = topology_.link(a);
    const Link& y = topology_.link(b);
    return (x.from == y.from && x.to == y.to) || (x.from == y.to && x.to == y.from);
  }

  /// The busiest cables of the chosen plan, and that of the next one.
  [[nodiscard]] std::vector<LinkId> cables_to_try() const {
    std::vector<LinkId> cables;
    const auto add = [&](const SimulationResult& r, std::size_t most) {
      std::vector<LinkId> order;
      for (LinkId link = 0; link < r.link_busy.size(); ++link) {
        if (r.link_busy[link].count > 0) order.push_back(link);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](LinkId a, LinkId b) { return r.link_busy[a].count > r.link_busy[b].count; });
      for (const LinkId link : order) {
        if (cables.size() >= most) return;
        const bool known = std::any_of(cables.begin(), cables.end(), [&](LinkId c) { return same_cable(c, link); });
        if (!known) cables.push_back(link);
      }
    };
    add(planning_.candidates[rivals_[0]].simulated, kCablesMost - 1);
    add(planning_.candidates[rivals_[1]].simulated, kCablesMost);
    return cables;
  }

  /// Index into the candidates of the best when the cable's rate is `factor` times what it is.
  Result<std::size_t> winner(LinkId cable, double factor) {
    factors_.assign(topology_.links().size(), 1);
    for (LinkId link = 0; link < factors_.size(); ++link) {
      if (same_cable(link, cable)) factors_[link] = factor;
    }
    SimulateOptions options = options_.simulate;
    options.bound = &planning_.bound;
    options.link_factors = factors_;
    std::size_t best = rivals_[0];
    double least = 0;
    for (const std::size_t i : rivals_) {
      const Candidate& c = planning_.candidates[i];
      HOCKET_TRY_ASSIGN(const SimulationResult r, simulate(c.plan, topology_, options));
      const double score = to_seconds(r.time).value * weight(c.algorithm);
      if (i != rivals_[0] && score >= least) continue;
      best = i;
      least = score;
    }
    return best;
  }

  [[nodiscard]] double weight(const std::string& algorithm) const {
    return options_.scores == nullptr
               ? 1
               : options_.scores->factor(algorithm, topology_, what_.collective.kind, what_.bytes().count);
  }

  /// Steps away from 1 until another candidate wins, then halves the gap; the factor nearest to 1 that was seen.
  Result<CableChange> search(LinkId cable, double stride) {
    double same = 1;
    for (double factor = stride; std::max(factor, 1 / factor) <= kFactorMost * kWithin; factor *= stride) {
      HOCKET_TRY_ASSIGN(std::size_t won, winner(cable, factor));
      if (won == rivals_[0]) {
        same = factor;
        continue;
      }
      double other = factor;
      while (std::max(other / same, same / other) > kWithin) {
        const double middle = std::sqrt(other * same);
        HOCKET_TRY_ASSIGN(const std::size_t there, winner(cable, middle));
        if (there != rivals_[0]) won = there;
        (there == rivals_[0] ? same : other) = middle;
      }
      return CableChange{cable, other, planning_.candidates[won].algorithm};
    }
    return CableChange{cable, 1, ""};
  }

  const Topology& topology_;
  const BoundCollective& what_;
  const Planning& planning_;
  const PlanningOptions& options_;
  std::vector<std::size_t> rivals_;  // candidates, the chosen first, the others by time
  std::vector<double> factors_;
};

}  // namespace

Result<WhatIf> what_if_rates(const Topology& topology, const BoundCollective& what, const Planning& planning,
                             const PlanningOptions& options) {
  return RateSearch(topology, what, planning, options).run();
}

}  // namespace hocket

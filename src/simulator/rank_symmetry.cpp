#include "simulator/rank_symmetry.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hocket {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x7f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class SymmetrySearch {
 public:
  SymmetrySearch(const Schedule& schedule, const Topology& topology, const FlatRoutes& routes,
                 const EndpointCosts& costs)
      : schedule_(schedule), topology_(topology), routes_(routes), costs_(costs), order_(schedule.ops().size()) {}

  /// Names every op; the names only order the ops, equality is checked afterwards.
  bool order_ops() {
    constexpr int kRounds = 3;
    label();
    for (int round = 0; round < kRounds; ++round) refine();
    const OpId per_rank = schedule_.first_op(1);
    by_order_.resize(schedule_.ops().size());
    std::iota(by_order_.begin(), by_order_.end(), OpId{0});
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      const OpId begin = schedule_.first_op(rank);
      const OpId end = schedule_.first_op(rank + 1);
      if (end - begin != per_rank) return false;
      const auto name = [&](OpId a, OpId b) {
        return std::pair(schedule_.op(a).step, labels_[a]) < std::pair(schedule_.op(b).step, labels_[b]);
      };
      std::sort(by_order_.begin() + begin, by_order_.begin() + end, name);
      for (OpId i = 0; i < per_rank; ++i) {
        const OpId id = by_order_[begin + i];
        if (labels_[id] != labels_[by_order_[i]]) return false;
        if (i > 0 && labels_[id] == labels_[by_order_[begin + i - 1]]) return false;
        order_[id] = i;
      }
    }
    return true;
  }

  [[nodiscard]] bool all_alike() const {
    for (OpId id = 0; id < order_.size(); ++id) {
      if (!alike(id, by_order_[order_[id]])) return false;
    }
    return same_link_sharing();
  }

  [[nodiscard]] std::vector<std::uint32_t> take_order() { return std::move(order_); }
  [[nodiscard]] std::vector<OpId> first_rank() const {
    return {by_order_.begin(), by_order_.begin() + schedule_.first_op(1)};
  }
  [[nodiscard]] bool hops_at_most(std::size_t most) const {
    for (OpId id = 0; id < order_.size(); ++id) {
      if (schedule_.op(id).sends() && (routes_.of(id).empty() || routes_.of(id).size() > most)) return false;
    }
    return true;
  }

 private:
  void label() {
    labels_.reserve(order_.size());
    for (const Op& op : schedule_.ops()) {
      std::uint64_t name = mix(static_cast<std::uint64_t>(op.kind), op.buffers);
      name = mix(mix(mix(name, op.channel), op.step), op.count);
      if (op.sends()) {
        const Link& link = topology_.link(routes_.of(static_cast<OpId>(labels_.size())).front());
        name = mix(mix(name, std::bit_cast<std::uint64_t>(link.bandwidth.value)),
                   std::bit_cast<std::uint64_t>(link.latency.value));
      }
      labels_.push_back(name);
    }
  }

  void refine() {
    std::vector<std::uint64_t> next(labels_.size());
    for (OpId id = 0; id < labels_.size(); ++id) {
      std::uint64_t waits = 0;
      for (const Dependency& d : schedule_.dependencies(id)) {
        if (same_phase(id, d.on())) waits += mix(labels_[d.on()], d.streaming() ? 2 : 1);
      }
      const OpId match = schedule_.match(id);
      next[id] = mix(mix(labels_[id], waits), match == kNoOp ? 0 : labels_[match]);
    }
    labels_ = std::move(next);
  }

  [[nodiscard]] bool same_phase(OpId a, OpId b) const { return costs_.phase_of(a) == costs_.phase_of(b); }

  [[nodiscard]] std::vector<std::uint32_t> waits_of(OpId id) const {
    std::vector<std::uint32_t> waits;
    for (const Dependency& d : schedule_.dependencies(id)) {
      if (same_phase(id, d.on())) waits.push_back(2 * order_[d.on()] + (d.streaming() ? 1 : 0));
    }
    std::sort(waits.begin(), waits.end());
    return waits;
  }

  [[nodiscard]] bool alike(OpId a, OpId b) const {
    const Op& x = schedule_.op(a);
    const Op& y = schedule_.op(b);
    if (x.kind != y.kind || x.buffers != y.buffers || x.count != y.count || x.step != y.step) return false;
    if (costs_.cost(a) != costs_.cost(b)) return false;
    const OpId partner = schedule_.match(a);
    const OpId other = schedule_.match(b);
    if ((partner == kNoOp) != (other == kNoOp)) return false;
    if (partner != kNoOp && order_[partner] != order_[other]) return false;
    if (x.sends() && !same_rates(routes_.of(a), routes_.of(b))) return false;
    return waits_of(a) == waits_of(b);
  }

  [[nodiscard]] bool same_rates(std::span<const LinkId> a, std::span<const LinkId> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](LinkId x, LinkId y) {
      const Link& used = topology_.link(x);
      const Link& same = topology_.link(y);
      return used.bandwidth == same.bandwidth && used.latency == same.latency;
    });
  }

  /// The first op (in order) of a rank that sends over the link of op i, for all i: equal for all ranks.
  [[nodiscard]] bool same_link_sharing() const {
    const OpId per_rank = schedule_.first_op(1);
    std::vector<OpId> first_use(topology_.links().size(), kNoOp);
    std::vector<OpId> shares(per_rank, kNoOp);
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      for (OpId i = 0; i < per_rank; ++i) {
        const OpId id = by_order_[schedule_.first_op(rank) + i];
        if (!schedule_.op(id).sends()) continue;
        OpId& first = first_use[routes_.of(id).front()];
        if (first == kNoOp) first = i;
        if (rank == 0) shares[i] = first;
        if (shares[i] != first) return false;
      }
    }
    return true;
  }

  const Schedule& schedule_;
  const Topology& topology_;
  const FlatRoutes& routes_;
  const EndpointCosts& costs_;
  std::vector<std::uint64_t> labels_;
  std::vector<std::uint32_t> order_;
  std::vector<OpId> by_order_;  // rank after rank
};

}  // namespace

std::optional<RankSymmetry> RankSymmetry::find(const Schedule& schedule, const Topology& topology,
                                               const FlatRoutes& routes, const EndpointCosts& costs) {
  return find_within(1, schedule, topology, routes, costs);
}

std::optional<RankSymmetry> RankSymmetry::find_on_star(const Schedule& schedule, const Topology& topology,
                                                       const FlatRoutes& routes, const EndpointCosts& costs) {
  return find_within(2, schedule, topology, routes, costs);
}

std::optional<RankSymmetry> RankSymmetry::find_within(std::size_t hops, const Schedule& schedule,
                                                      const Topology& topology, const FlatRoutes& routes,
                                                      const EndpointCosts& costs) {
  SymmetrySearch search(schedule, topology, routes, costs);
  if (!search.hops_at_most(hops) || !search.order_ops() || !search.all_alike()) return std::nullopt;
  RankSymmetry found;
  found.by_order_ = search.first_rank();
  found.order_ = search.take_order();
  return found;
}

}  // namespace hocket

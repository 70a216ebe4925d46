#include "algorithms/parts/hamilton.h"

#include <algorithm>
#include <numeric>

namespace hocket {
namespace {

/// Ranks next to each rank, both directions required, fastest link first, then ascending.
std::vector<std::vector<std::uint32_t>> neighbours(const Topology& topology) {
  const std::uint32_t ranks = topology.rank_count();
  std::vector<std::vector<std::uint32_t>> result(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::pair<double, std::uint32_t>> found;
    for (const LinkId id : topology.outgoing(topology.vertex_of(rank))) {
      const std::int32_t to = topology.rank_of(topology.link(id).to);
      if (to >= 0) found.emplace_back(-topology.link(id).bandwidth.value, static_cast<std::uint32_t>(to));
    }
    std::sort(found.begin(), found.end());
    for (const auto& [rate, to] : found) {
      if (std::find(result[rank].begin(), result[rank].end(), to) == result[rank].end()) result[rank].push_back(to);
    }
  }
  const auto joined = [&](std::uint32_t a, std::uint32_t b) {
    return std::find(result[a].begin(), result[a].end(), b) != result[a].end();
  };
  const auto one_way = result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::erase_if(result[rank], [&](std::uint32_t to) {
      return std::find(one_way[to].begin(), one_way[to].end(), rank) == one_way[to].end() || !joined(rank, to);
    });
  }
  return result;
}

bool is_cycle(const std::vector<std::uint32_t>& order, const std::vector<std::vector<std::uint32_t>>& beside) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& next = beside[order[i]];
    if (std::find(next.begin(), next.end(), order[(i + 1) % order.size()]) == next.end()) return false;
  }
  return true;
}

/// Every cell of a grid, each one step from the last: the reflected counting order (Gray code when all sides are 2).
/// `sides` innermost first.
std::vector<std::uint32_t> reflected(const std::vector<std::uint32_t>& sides) {
  std::vector<std::uint32_t> order{0};
  std::uint32_t stride = 1;
  for (const std::uint32_t side : sides) {
    const std::vector<std::uint32_t> plane = order;
    for (std::uint32_t i = 1; i < side; ++i) {
      for (std::size_t j = 0; j < plane.size(); ++j) {
        order.push_back(stride * i + (i % 2 == 1 ? plane[plane.size() - 1 - j] : plane[j]));
      }
    }
    stride *= side;
  }
  return order;
}

/// Out along the first cells of the lines of dimension `spine`, back through the rest of them: closes when some side is
/// even. Works on the grid of cells with `across` = number of lines (in reflected order) and `length` cells each.
std::vector<std::uint32_t> comb(const std::vector<std::uint32_t>& lines, std::uint32_t stride, std::uint32_t length) {
  std::vector<std::uint32_t> order;
  for (const std::uint32_t line : lines) order.push_back(line);
  for (std::size_t i = lines.size(); i-- > 0;) {
    const bool outward = (lines.size() - 1 - i) % 2 == 0;
    for (std::uint32_t c = 1; c < length; ++c) order.push_back(lines[i] + stride * (outward ? c : length - c));
  }
  return order;
}

/// Candidates on a grid of the given extents: a comb for each choice of the dimension that the teeth run along.
std::vector<std::vector<std::uint32_t>> grid_candidates(std::span<const std::uint32_t> extents) {
  std::vector<std::vector<std::uint32_t>> result;
  result.push_back(reflected({extents.begin(), extents.end()}));
  for (std::size_t tooth = 0; tooth < extents.size(); ++tooth) {
    if (extents[tooth] < 2) continue;
    std::vector<std::uint32_t> lines{0};
    std::uint32_t stride = 1;
    std::uint32_t tooth_stride = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (d == tooth) tooth_stride = stride;
      const std::vector<std::uint32_t> plane = lines;
      for (std::uint32_t i = 1; i < extents[d] && d != tooth; ++i) {
        for (std::size_t j = 0; j < plane.size(); ++j) {
          lines.push_back(stride * i + (i % 2 == 1 ? plane[plane.size() - 1 - j] : plane[j]));
        }
      }
      stride *= extents[d];
    }
    result.push_back(comb(lines, tooth_stride, extents[tooth]));
  }
  return result;
}

/// Depth-first search for a cycle, fewest onward choices first, within a bound on the steps tried.
class CycleSearch {
 public:
  explicit CycleSearch(const std::vector<std::vector<std::uint32_t>>& beside) : beside_(beside) {
    used_.assign(beside.size(), false);
  }
  bool find() {
    order_.push_back(0);
    used_[0] = true;
    std::vector<std::vector<std::uint32_t>> choices{choices_at(0)};
    for (std::uint32_t tried = 0; tried < kTriedMax && !choices.empty(); ++tried) {
      if (order_.size() == beside_.size() && closes()) return true;
      if (choices.back().empty()) {
        used_[order_.back()] = false;
        order_.pop_back();
        choices.pop_back();
        continue;
      }
      const std::uint32_t next = choices.back().back();
      choices.back().pop_back();
      order_.push_back(next);
      used_[next] = true;
      choices.push_back(choices_at(next));
    }
    return false;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  static constexpr std::uint32_t kTriedMax = 200000;

  [[nodiscard]] bool closes() const {
    const auto& last = beside_[order_.back()];
    return std::find(last.begin(), last.end(), 0U) != last.end();
  }
  [[nodiscard]] std::size_t onward(std::uint32_t rank) const {
    return static_cast<std::size_t>(
        std::count_if(beside_[rank].begin(), beside_[rank].end(), [&](std::uint32_t r) { return !used_[r]; }));
  }
  /// The best choice last.
  [[nodiscard]] std::vector<std::uint32_t> choices_at(std::uint32_t rank) const {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t next : beside_[rank]) {
      if (!used_[next]) result.push_back(next);
    }
    std::stable_sort(result.begin(), result.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return onward(a) < onward(b); });
    std::reverse(result.begin(), result.end());
    return result;
  }

  const std::vector<std::vector<std::uint32_t>>& beside_;
  std::vector<std::uint32_t> order_;
  std::vector<bool> used_;
};

}  // namespace

RingOrder ring_order(const Topology& topology) {
  const std::uint32_t ranks = topology.rank_count();
  RingOrder result;
  result.ranks.resize(ranks);
  std::iota(result.ranks.begin(), result.ranks.end(), 0U);
  const auto beside = neighbours(topology);
  if (ranks < 3 || is_cycle(result.ranks, beside)) {
    result.direct = is_cycle(result.ranks, beside);
    return result;
  }
  std::uint64_t cells = 1;
  for (const std::uint32_t extent : topology.extents()) cells *= extent;
  if (!topology.extents().empty() && cells == ranks) {
    for (const auto& candidate : grid_candidates(topology.extents())) {
      if (candidate.size() == ranks && is_cycle(candidate, beside)) return {candidate, true};
    }
  }
  const bool all_joined = std::all_of(beside.begin(), beside.end(), [](const auto& b) { return b.size() >= 2; });
  if (CycleSearch search(beside); all_joined && search.find()) return {search.order(), true};
  return result;
}

}  // namespace hocket

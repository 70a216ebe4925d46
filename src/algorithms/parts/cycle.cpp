#include "algorithms/parts/cycle.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace hocket {
namespace {

constexpr std::uint64_t kSearchStepsMax = 200000;

bool are_neighbours(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  for (const LinkId link : topology.outgoing(topology.vertex_of(a))) {
    if (topology.link(link).to == topology.vertex_of(b)) return true;
  }
  return false;
}

bool is_cycle(const Topology& topology, const std::vector<std::uint32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!are_neighbours(topology, order[i], order[(i + 1) % order.size()])) return false;
  }
  return true;
}

/// Boustrophedon over all dimensions but the first, leaving the first column free for the way back; needs an even
/// extent in the last dimension of a 2-D grid. Higher grids take the plain snake, right on tori where it closes.
std::vector<std::uint32_t> grid_cycle(std::uint32_t width, std::uint32_t height, bool transpose) {
  std::vector<std::uint32_t> order;
  const auto at = [&](std::uint32_t x, std::uint32_t y) { return transpose ? x * height + y : y * width + x; };
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t i = 1; i < width; ++i) order.push_back(at(y % 2 == 0 ? i : width - i, y));
  }
  for (std::uint32_t y = height; y-- > 0;) order.push_back(at(0, y));
  return order;
}

/// Depth-first search by fewest onward neighbours (Warnsdorff), within a fixed number of steps.
std::optional<std::vector<std::uint32_t>> search_cycle(const Topology& topology) {
  const std::uint32_t n = topology.rank_count();
  std::vector<std::vector<std::uint32_t>> next(n);
  for (std::uint32_t r = 0; r < n; ++r) {
    for (const LinkId link : topology.outgoing(topology.vertex_of(r))) {
      const std::int32_t other = topology.rank_of(topology.link(link).to);
      if (other >= 0) next[r].push_back(static_cast<std::uint32_t>(other));
    }
    std::sort(next[r].begin(), next[r].end());
    next[r].erase(std::unique(next[r].begin(), next[r].end()), next[r].end());
  }
  std::vector<bool> used(n, false);
  const auto onward = [&](std::uint32_t r) {
    return std::count_if(next[r].begin(), next[r].end(), [&](std::uint32_t o) { return !used[o]; });
  };
  struct Frame {
    std::vector<std::uint32_t> choices;
    std::size_t at = 0;
  };
  std::vector<std::uint32_t> path{0};
  std::vector<Frame> stack;
  used[0] = true;
  const auto open = [&](std::uint32_t r) {
    Frame frame;
    for (const std::uint32_t o : next[r]) {
      if (!used[o]) frame.choices.push_back(o);
    }
    std::stable_sort(frame.choices.begin(), frame.choices.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return onward(a) < onward(b); });
    stack.push_back(std::move(frame));
  };
  open(0);
  for (std::uint64_t steps = 0; steps < kSearchStepsMax && !stack.empty(); ++steps) {
    if (path.size() == n && are_neighbours(topology, path.back(), 0)) return path;
    Frame& frame = stack.back();
    if (frame.at == frame.choices.size()) {
      stack.pop_back();
      used[path.back()] = false;
      path.pop_back();
      continue;
    }
    const std::uint32_t r = frame.choices[frame.at++];
    used[r] = true;
    path.push_back(r);
    open(r);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> cycle_order(const Topology& topology) {
  std::vector<std::uint32_t> order(topology.rank_count());
  std::iota(order.begin(), order.end(), 0U);
  if (order.size() < 3 || is_cycle(topology, order)) return order;
  const auto extents = topology.extents();
  if (extents.size() == 2 && extents[0] > 1 && extents[1] > 1 &&
      std::uint64_t{extents[0]} * extents[1] == order.size()) {
    for (const bool transpose : {false, true}) {
      const auto cycle = grid_cycle(extents[transpose ? 1 : 0], extents[transpose ? 0 : 1], transpose);
      if (is_cycle(topology, cycle)) return cycle;
    }
  }
  return search_cycle(topology).value_or(order);
}

void add_ring(ScheduleBuilder& builder, const RingPart& part) {
  const std::vector<std::uint32_t>& order = part.order;
  const auto n = static_cast<std::uint32_t>(order.size());
  const CollectiveKind kind = builder.collective().kind;
  const bool scatter = kind != CollectiveKind::kAllGather;
  const bool gather = kind != CollectiveKind::kReduceScatter;
  const Buffer partial = kind == CollectiveKind::kReduceScatter ? Buffer::kScratch : Buffer::kOutput;
  if (partial == Buffer::kScratch) builder.set_scratch_pieces(builder.pieces());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t rank = order[i];
    const auto at = [&](std::uint32_t distance) {
      return order[part.forward ? (i + distance) % n : (i + n - distance % n) % n];
    };
    const std::uint32_t next = at(1);
    const std::uint32_t before = at(n - 1);
    const auto piece = [&](std::uint32_t back) { return part.first_piece + part.stride * at(2 * n - back); };
    const auto options = [&](std::uint32_t step) { return OpOptions{.channel = part.channel, .step = step}; };
    builder.reserve_more(rank, std::size_t{2} * (n - 1) * (scatter && gather ? 2 : 1) + 1);
    // A piece travels from its owner's successor round to its owner, so that reduce-scatter ends where it should.
    for (std::uint32_t s = 0; scatter && s + 1 < n; ++s) {
      builder.send(rank, next, {s == 0 ? Buffer::kInput : partial, piece(s + 1)}, options(s));
      const bool whole = s + 2 == n;
      builder.recv_reduce(rank, before, {Buffer::kInput, piece(s + 2)},
                          {whole ? Buffer::kOutput : partial, piece(s + 2)}, options(s));
    }
    const std::uint32_t base = scatter ? n - 1 : 0;
    if (!scatter) builder.copy(rank, {Buffer::kInput, piece(0)}, {Buffer::kOutput, piece(0)});
    for (std::uint32_t s = 0; gather && s + 1 < n; ++s) {
      builder.send(rank, next, {Buffer::kOutput, piece(s)}, options(base + s));
      builder.recv(rank, before, {Buffer::kOutput, piece(s + 1)}, options(base + s));
    }
  }
}

Result<Schedule> plan_chain(const Collective& collective, const std::vector<std::uint32_t>& order, std::string name) {
  const auto n = static_cast<std::uint32_t>(order.size());
  const auto root = static_cast<std::uint32_t>(std::find(order.begin(), order.end(), collective.root) - order.begin());
  ScheduleBuilder builder(collective, {}, std::move(name));
  const bool down = collective.kind == CollectiveKind::kBroadcast;
  if (!down) builder.set_scratch_pieces(builder.pieces());
  for (std::uint32_t d = 0; d < n; ++d) {
    // Broadcast: position d of the pipeline from the root. Reduce: the pipeline ends at the root.
    const std::uint32_t rank = order[(root + d + (down ? 0 : 1)) % n];
    const std::uint32_t before = order[(root + d + (down ? n - 1 : n)) % n];
    const std::uint32_t next = order[(root + d + (down ? 1 : 2)) % n];
    const bool first = d == 0;
    const bool last = d + 1 == n;
    const OpOptions in{.step = d == 0 ? 0 : d - 1};
    const OpOptions out{.step = d};
    const PieceRange input{Buffer::kInput, 0, builder.pieces()};
    PieceRange held{down || last ? Buffer::kOutput : Buffer::kScratch, 0, builder.pieces()};
    if (down && first) builder.copy(rank, input, held);
    if (down && !first) builder.recv(rank, before, held, in);
    if (!down && !first) builder.recv_reduce(rank, before, input, held, in);
    if (first) held = input;
    if (!last) builder.send(rank, next, held, out);
  }
  return std::move(builder).finish();
}

}  // namespace hocket

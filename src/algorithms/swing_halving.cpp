// Swing (De Sensi, Bonato, Saam and Hoefler, NSDI 2024, section 3), the variant with least bandwidth: reduce-scatter in
// log2 N steps to the same peers as `swing`, then all-gather backwards. In a step a rank sends its peer the blocks that
// the peer keeps or passes on in later steps. Ring of four, distances 1 and -1:
//     step 0: 0 -b1 b2-> 1   1 -b0 b3-> 0   2 -b3 b0-> 3   3 -b2 b1-> 2     step 1: 1 -b2-> 2   2 -b1-> 1   3 -b0-> 0
//     ...
#include <algorithm>

#include "algorithms/parts/swing_peers.h"
#include "algorithms/parts/transfers.h"

namespace hocket {
namespace {

constexpr std::uint32_t kRanksMax = 256;  // blocks of a step are not consecutive: N^2 log N runs

std::string supports(const PlanRequest& request) {
  if (request.collective.ranks > kRanksMax) return fmt::format("it goes up to {} ranks", kRanksMax);
  return SwingPeers::supports(request);
}

/// Blocks that a rank is still responsible for after a step: its own, and its later peers' after their steps.
class Duties {
 public:
  Duties(const SwingPeers& peers, std::uint32_t ranks, std::uint32_t part) : runs_(peers.steps()) {
    std::vector<std::vector<std::uint32_t>> after(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) after[rank] = {rank};
    for (std::uint32_t step = peers.steps(); step-- > 0;) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) runs_[step].push_back(as_runs(after[rank], part * ranks));
      std::vector<std::vector<std::uint32_t>> before(ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        before[rank] = after[rank];
        const std::vector<std::uint32_t>& more = after[peers.peer(rank, part, step)];
        before[rank].insert(before[rank].end(), more.begin(), more.end());
      }
      after = std::move(before);
    }
  }

  [[nodiscard]] const std::vector<Run>& of(std::uint32_t rank, std::uint32_t step) const { return runs_[step][rank]; }

 private:
  static std::vector<Run> as_runs(std::vector<std::uint32_t> blocks, std::uint32_t offset) {
    std::sort(blocks.begin(), blocks.end());
    std::vector<Run> runs;
    for (const std::uint32_t block : blocks) {
      if (!runs.empty() && runs.back().piece + runs.back().count == block + offset) {
        ++runs.back().count;
      } else {
        runs.push_back({block + offset, 1});
      }
    }
    return runs;
  }

  std::vector<std::vector<std::vector<Run>>> runs_;  // by step and rank
};

/// One step of one part: `reducing` the peer's duties go to it, otherwise the own ones.
struct PartStep {
  std::uint32_t part = 0;
  std::uint32_t step = 0;  // of the peers
  std::uint32_t time = 0;
  bool reducing = true;
};

void write(Transfers& transfers, const SwingPeers& peers, const Duties& duty, const PartStep& at) {
  const OpOptions options{.channel = static_cast<std::uint16_t>(at.part), .step = at.time};
  const auto ranks = transfers.pieces() / peers.parts();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t peer = peers.peer(rank, at.part, at.step);
    for (const Run run : duty.of(at.reducing ? peer : rank, at.step)) transfers.send(rank, peer, run, options);
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t peer = peers.peer(rank, at.part, at.step);
    for (const Run run : duty.of(at.reducing ? rank : peer, at.step)) {
      at.reducing ? transfers.recv_reduce(rank, peer, run, options) : transfers.recv(rank, peer, run, options);
    }
  }
}

Result<Schedule> plan(const PlanRequest& request) {
  const SwingPeers peers(request.topology);
  const std::uint32_t ranks = request.collective.ranks;
  Transfers transfers(request.collective, peers.parts() * ranks, "swing_halving");
  std::vector<Duties> duties;
  for (std::uint32_t part = 0; part < peers.parts(); ++part) duties.emplace_back(peers, ranks, part);
  const std::uint32_t steps = peers.steps();
  for (std::uint32_t time = 0; time < 2 * steps; ++time) {
    const bool reducing = time < steps;
    const std::uint32_t step = reducing ? time : 2 * steps - 1 - time;
    for (std::uint32_t part = 0; part < peers.parts(); ++part) {
      write(transfers, peers, duties[part], {part, step, time, reducing});
    }
  }
  return std::move(transfers).finish();
}

}  // namespace

extern const Algorithm algorithm_swing_halving{
    .name = "swing_halving",
    .description = "reduce-scatter and all-gather between peers at swinging distances, on rings and tori",
    .source = "De Sensi et al., NSDI 2024, section 3",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket
